// Requests to the server: JSON in both directions.

export async function ask(path, query, signal) {
  let answer;
  try {
    answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(query), signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error("the playground has ended: start it again");
  }
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}
