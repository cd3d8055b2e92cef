// Edits that are not saved, in the browser's storage: by directory, folder and file, with the digest
// of the version on disk that they were made on. A draft whose version is gone is set aside, until
// there is a choice.

const DRAFT = "draft";
const ASIDE = "aside";

export class Drafts {
  /** `root` is the directory that is served, `full` is called when there is no room. */
  constructor(root, full) {
    this.root = root;
    this.full = full;
  }

  key(kind, folder, file, ...more) {
    return JSON.stringify(["function-script", kind, this.root, folder, file, ...more]);
  }

  /** The drafts of a folder: objects with key, file, text, digest and time. */
  list(folder) {
    return this.find(DRAFT, folder);
  }

  /** The drafts of a folder that were set aside, in the same form. */
  listAside(folder) {
    return this.find(ASIDE, folder);
  }

  find(kind, folder) {
    const begin = this.key(kind, folder, "").slice(0, -3); // up to the file's name
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(begin));
    return keys.map((key) => ({ ...JSON.parse(localStorage.getItem(key)), file: JSON.parse(key)[4], key }));
  }

  save(folder, file, text, digest) {
    this.write(this.key(DRAFT, folder, file), { text, digest, time: Date.now() });
  }

  setAside(folder, { key, file, text, digest, time }) {
    this.write(this.key(ASIDE, folder, file, time), { text, digest, time });
    localStorage.removeItem(key);
  }

  write(key, draft) {
    try {
      localStorage.setItem(key, JSON.stringify(draft));
    } catch {
      this.full();
    }
  }

  remove(folder, file) {
    localStorage.removeItem(this.key(DRAFT, folder, file));
  }

  removeAside({ key }) {
    localStorage.removeItem(key);
  }
}
