/** `atrium/devtools`: a panel that shows a client at work, for development. */
import { add, element, setText } from "./elements.ts";
import { Monitor } from "./monitor.ts";
import { panelSections } from "./sections.ts";
import { applyStyles } from "./styles.ts";
import type { InspectedClient } from "./traffic.ts";

export { ConnectionMonitor } from "./monitor.ts";
export type { InspectedClient, Message, Traffic } from "./traffic.ts";

const SHOW_INTERVAL_MS = 250;
const PANEL_ID = "panel";

export interface DevToolsOptions {
  /** Whether the panel is open from the beginning; otherwise a button opens it. */
  readonly isOpen?: boolean | undefined;
  /** The parent of the panel; the document's body by default. */
  readonly parent?: Element | undefined;
}

/** Adds a panel that shows a client. Returns a function that removes it. Throws outside of browsers. */
export function openDevTools(client: InspectedClient, options: DevToolsOptions = {}): () => void {
  const panel = new Panel(new Monitor(client));
  (options.parent ?? document.body).appendChild(panel.host);
  if (options.isOpen) panel.toggle();
  return () => panel.remove();
}

class Panel {
  readonly host = document.createElement("atrium-devtools");
  readonly #monitor: Monitor;
  readonly #sections = panelSections();
  readonly #panel: HTMLElement;
  readonly #button: HTMLButtonElement;
  readonly #label = element("span");
  readonly #cut = element("button", { type: "button" });
  readonly #facts = {
    Connection: element("dd"),
    Latency: element("dd"),
    Room: element("dd"),
    You: element("dd"),
  };
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(monitor: Monitor) {
    this.#monitor = monitor;
    const root = this.host.attachShadow({ mode: "open" });
    applyStyles(root);
    const close = element("button", { type: "button", "aria-label": "Close Atrium DevTools" }, "✕");
    const facts = Object.entries(this.#facts).flatMap(([name, fact]) => [element("dt", {}, name), fact]);
    const header = element("header", {}, element("h2", { id: "title" }, "Atrium DevTools"), this.#cut, close);
    const sections = this.#sections.map((section) => section.element);
    const body = element("div", { class: "body" }, element("dl", {}, ...facts), ...sections);
    this.#panel = element(
      "section",
      { class: "panel", id: PANEL_ID, "aria-labelledby": "title" },
      header,
      body,
    );
    this.#panel.hidden = true;
    const dot = element("span", { class: "dot" });
    this.#button = element(
      "button",
      { type: "button", class: "toggle", "aria-expanded": "false", "aria-controls": PANEL_ID },
      dot,
      this.#label,
    );
    add(root, this.#panel, this.#button);
    this.#button.addEventListener("click", () => this.toggle());
    close.addEventListener("click", () => this.toggle());
    this.#cut.addEventListener("click", () => this.#toggleConnection());
    this.#panel.addEventListener("keydown", ({ key }) => key === "Escape" && this.toggle());
    this.#timer = setInterval(() => this.#show(), SHOW_INTERVAL_MS);
    this.#show();
  }

  toggle(): void {
    const hadFocus = this.#panel.contains(this.host.shadowRoot?.activeElement ?? null);
    this.#panel.hidden = !this.#panel.hidden;
    this.#button.setAttribute("aria-expanded", String(!this.#panel.hidden));
    if (this.#panel.hidden && hadFocus) this.#button.focus();
    this.#show();
  }

  remove(): void {
    clearInterval(this.#timer);
    this.#monitor.stop();
    this.host.remove();
  }

  #toggleConnection(): void {
    if (this.#monitor.isCut) this.#monitor.restore();
    else this.#monitor.cut();
    this.#show();
  }

  #show(): void {
    const { isCut, latencyMs, client } = this.#monitor;
    const state = isCut ? "cut" : client.socket.state;
    this.#button.dataset.state = state;
    setText(this.#label, `Atrium: ${state}`);
    if (this.#panel.hidden) return;
    setText(this.#cut, isCut ? "Restore connection" : "Cut connection");
    setText(this.#facts.Connection, state);
    setText(
      this.#facts.Latency,
      latencyMs === null ? "–" : `${latencyMs.toFixed(latencyMs < 10 ? 1 : 0)} ms`,
    );
    setText(this.#facts.Room, client.currentRoom?.name ?? "–");
    setText(
      this.#facts.You,
      `${client.currentUser?.name ?? client.userId}${client.role ? `, ${client.role}` : ""}`,
    );
    for (const section of this.#sections) section.show(this.#monitor);
  }
}
