// @ts-check
/** Joins the room, and shares cursors and a counter with everyone in it. */
import { AtriumClient } from "atrium/client";

const [status, button, total] = [find("[role=status]"), find("button"), find("button b")];

try {
  const response = await fetch("/token", { method: "POST" });
  if (!response.ok) throw new Error(await response.text());
  const { serverUrl, token } = await response.json();
  const client = new AtriumClient({ serverUrl, authToken: token });
  client.socket.on("reconnecting", () => say("Reconnecting…"));
  client.socket.on("reconnected", () => say("Open this page in a second window."));
  client.socket.on("failed", ({ error }) => say(error.message));
  await client.join();
  shareCursors(client);
  await shareCounter(client);
  say("Open this page in a second window.");
} catch (error) {
  say(`The room could not be joined: ${error}`);
}

/** Cursors are presence: what each user shows right now. It is not stored. @param {AtriumClient} client */
function shareCursors({ presence, users, userId: me }) {
  addEventListener("pointermove", ({ clientX: x, clientY: y }) => presence.update({ x, y }));
  document.documentElement.addEventListener("pointerleave", () => presence.update(null));

  /** @type {Map<string, HTMLElement>} */
  const cursors = new Map();
  presence.sync("*", ({ userId, state }) => {
    if (userId === me) return;
    const cursor = cursors.get(userId) ?? document.createElement("p");
    cursors.set(userId, cursor);
    if (typeof state?.x !== "number") return cursor.remove();
    cursor.className = "cursor";
    cursor.textContent = users.online.get(userId)?.name ?? "";
    cursor.style.color = String(state.color);
    cursor.style.translate = `${state.x}px ${state.y}px`;
    document.body.appendChild(cursor);
  });
}

/**
 * The counter is a store: it stays when everyone has left. Each user counts in an entry of its own, so that clicks at
 * the same time all count. @param {AtriumClient} client
 */
async function shareCounter(client) {
  const clicks = client.store("clicks");
  await clicks.sync();
  const show = () => {
    const counts = Object.values(clicks.getAll()).map(Number);
    total.textContent = String(counts.reduce((sum, count) => sum + count, 0));
  };
  clicks.on("updated", show);
  show();
  button.onclick = () => clicks.set(client.userId, Number(clicks.get(client.userId) ?? 0) + 1);
  button.removeAttribute("disabled");
}

/** @param {string} text */
function say(text) {
  status.textContent = text;
}

/** @param {string} selector @returns {HTMLElement} */
function find(selector) {
  const element = document.querySelector(selector);
  if (!(element instanceof HTMLElement)) throw new Error(`The page has no ${selector}`);
  return element;
}
