/** The client's own presence, and the fields that the room has yet to receive. */
import { AtriumError, invalid } from "../core/error.ts";
import { byteLength, frozen, toJson } from "../core/json.ts";
import type { PresenceState } from "../wire/resources.ts";

const MAX_STATE_BYTES = 8 * 1024;
const LEVELS_ABOVE = 3;

/** A field that was left as it was, and why. */
export interface RefusedField {
  readonly field: string;
  readonly error: AtriumError;
}

export class OwnPresence {
  /** All fields ever set: a removed one is undefined, because the room may still have it. */
  #fields: ReadonlyMap<string, unknown> = new Map();
  #visible: PresenceState = {};
  readonly #unsent = new Set<string>();
  #next: "patch" | "state" | null = null;
  #isShown = false;
  #wasCleared = false;

  get visible(): PresenceState {
    return this.#visible;
  }

  /** Returns the refused fields: too large, or not JSON. Undefined removes a field. */
  change(part: object): RefusedField[] {
    const refused: RefusedField[] = [];
    const attempt = (field: string, action: () => void) => {
      try {
        action();
      } catch (error) {
        if (!(error instanceof AtriumError)) throw error;
        refused.push({ field, error });
      }
    };
    const fields: [name: string, json: string][] = [];
    for (const [name, value] of Object.entries(part))
      attempt(name, () =>
        fields.push([name, value === undefined ? "" : toJson(value, "Presence", name, LEVELS_ABOVE)]),
      );
    // The smallest first, so that a field that is too large holds up no other.
    fields.sort(([, a], [, b]) => a.length - b.length);
    for (const [name, json] of fields) attempt(name, () => this.#set(name, json));
    this.#isShown = true;
    this.#next ??= "patch";
    return refused;
  }

  /** Empty JSON removes the field. Throws VALIDATION_ERROR above the limit of the state. */
  #set(name: string, json: string): void {
    const fields = new Map(this.#fields).set(name, json === "" ? undefined : JSON.parse(json));
    const visible = Object.fromEntries([...fields].filter(([, value]) => value !== undefined));
    if (json !== "" && byteLength(JSON.stringify(visible)) > MAX_STATE_BYTES)
      throw invalid("Presence", `${name}: the presence must have at most ${MAX_STATE_BYTES} bytes in all`);
    this.#fields = fields;
    this.#visible = frozen(visible);
    this.#unsent.add(name);
  }

  clear(): void {
    this.#fields = new Map();
    this.#visible = {};
    this.#isShown = false;
    this.#wasCleared = true;
    this.#next = "state";
  }

  takeUpdate(): object | null {
    const [next, names] = [this.#next, [...this.#unsent]];
    this.#next = null;
    this.#unsent.clear();
    if (next === null) return null;
    if (next === "state") return { state: this.#isShown ? this.#visible : null };
    // JSON leaves out removed fields, which are undefined.
    const patch = Object.fromEntries(names.map((name) => [name, this.#fields.get(name)]));
    const remove = names.filter((name) => this.#fields.get(name) === undefined);
    return { patch, ...(remove.length > 0 && { remove }) };
  }

  /** A new connection: the room may have received none of the updates. */
  sendAgain(): void {
    for (const name of this.#fields.keys()) this.#unsent.add(name);
    if (this.#isShown) this.#next = "patch";
    if (this.#wasCleared) this.#next = "state";
  }

  /** The room refused a change because another tab shows too much: this tab's state replaces it. */
  replaceRoomState(): void {
    if (this.#isShown) this.#next = "state";
  }
}
