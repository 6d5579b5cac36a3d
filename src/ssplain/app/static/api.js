// What the page asks of the room. A refusal becomes an Error whose message can be shown.

async function answered(response) {
  if (response.ok) return response;
  let message = "The room does not answer as it should; reload the page.";
  try {
    message = (await response.json()).message || message;
  } catch {
    // not JSON: the sentence above will do
  }
  throw new Error(message);
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The room cannot be reached; is `ssplain serve` still running?");
  }
  return answered(response);
}

const query = (values) =>
  new URLSearchParams(Object.entries(values).filter(([, value]) => value !== undefined && value !== ""));

export const get = async (path, values = {}) => (await ask(`${path}?${query(values)}`)).json();
export const bytes = async (path, values = {}) => (await ask(`${path}?${query(values)}`)).arrayBuffer();

export const post = async (path, body = {}) =>
  (
    await ask(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    })
  ).json();

export const send = async (file) =>
  (await ask(`/api/uploads?${query({ name: file.name })}`, { method: "POST", body: file })).json();

export const thumb = (image) => `/api/thumb?${query({ image })}`;
