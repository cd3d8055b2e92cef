// Tab lists as the ARIA practices describe them: one stop for Tab, arrows between the tabs.

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Let arrows, Home and End move in a tab list; the tab that they reach is chosen. */
export function follow(list) {
  list.addEventListener("keydown", (event) => {
    const tabs = [...list.querySelectorAll("[role=tab]")];
    const at = tabs.indexOf(document.activeElement);
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const next = { Home: 0, End: tabs.length - 1 }[event.key] ?? (STEPS[event.key] && (at + STEPS[event.key] + tabs.length) % tabs.length);
    if (next === undefined) return;
    event.preventDefault();
    tabs[next].focus();
    tabs[next].click();
  });
}

/** Mark one tab of a list as chosen. */
export function choose(tab, isChosen) {
  tab.setAttribute("aria-selected", isChosen);
  tab.tabIndex = isChosen ? 0 : -1;
}
