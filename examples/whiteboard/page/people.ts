/** The others: their cursors on the board, and buttons that follow them. */
import type { Camera, View } from "./camera.ts";
import type { Client } from "./mirror.ts";
import { colorOf, type Point, readPoint } from "./shapes.ts";

interface Person {
  readonly id: string;
  readonly name: string;
  readonly color: string;
  readonly cursor: Point | null;
  readonly view: View | null;
}

export class People {
  readonly #client: Client;
  readonly #camera: Camera;
  readonly #cursors: HTMLElement;
  readonly #buttons: HTMLElement;
  #followed: string | null = null;
  #shownButtons = "";

  constructor(client: Client, camera: Camera, cursors: HTMLElement, buttons: HTMLElement) {
    this.#client = client;
    this.#camera = camera;
    this.#cursors = cursors;
    this.#buttons = buttons;
    client.presence.sync("*", () => this.show());
    client.users.on("updated", () => this.show());
  }

  /** Shows one's own pointer to the others; null when it has left the board. */
  point(cursor: Point | null): void {
    this.#client.presence.update({ cursor });
  }

  /** Shows the others which part of the board one sees, so that they can follow. */
  look(view: View): void {
    this.#client.presence.update({ view });
  }

  /** Ends following, because the person has moved the view. */
  unfollow(): void {
    if (this.#followed === null) return;
    this.#followed = null;
    this.show();
  }

  show(): void {
    const others = this.#others();
    const followed = others.find(({ id }) => id === this.#followed);
    if (followed?.view && !isSameView(followed.view, this.#camera.view)) this.#camera.show(followed.view);
    this.#cursors.replaceChildren(...others.flatMap((person) => this.#cursorOf(person) ?? []));
    // Only when they change: a button that is replaced while someone presses it would not be clicked.
    const shown = JSON.stringify(
      others.map(({ id, name, color }) => [id, name, color, id === this.#followed]),
    );
    if (shown === this.#shownButtons) return;
    this.#shownButtons = shown;
    this.#buttons.replaceChildren(...others.map((person) => this.#buttonOf(person)));
  }

  #others(): Person[] {
    const states = this.#client.presence.getStates();
    return [...this.#client.users.online.values()]
      .filter(({ id }) => id !== this.#client.userId)
      .map(({ id, name }) => {
        const state: Partial<Record<string, unknown>> = states.get(id) ?? {}; // any client can send anything
        return {
          id,
          name,
          color: colorOf(state.color),
          cursor: readPoint(state.cursor),
          view: readView(state.view),
        };
      });
  }

  #cursorOf({ name, color, cursor }: Person): HTMLElement | null {
    if (cursor === null) return null;
    const { x, y } = this.#camera.toWindow(cursor);
    const element = document.createElement("div");
    element.className = "cursor";
    element.style.transform = `translate(${x}px, ${y}px)`;
    element.style.color = color;
    const label = document.createElement("span");
    label.textContent = name;
    element.replaceChildren(label);
    return element;
  }

  #buttonOf({ id, name, color }: Person): HTMLElement {
    const isFollowed = id === this.#followed;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = isFollowed ? `Following ${name}` : name;
    button.title = isFollowed ? `Stop following ${name}` : `Follow ${name}`;
    button.setAttribute("aria-pressed", String(isFollowed));
    button.style.borderColor = color;
    button.onclick = () => {
      this.#followed = isFollowed ? null : id;
      this.show();
    };
    return button;
  }
}

function readView(value: unknown): View | null {
  const point = readPoint(value);
  const zoom = point && (value as { readonly zoom?: unknown }).zoom;
  return point && typeof zoom === "number" && zoom > 0.01 && zoom < 100 ? { ...point, zoom } : null;
}

const isSameView = (one: View, other: View): boolean =>
  one.x === other.x && one.y === other.y && one.zoom === other.zoom;
