/** Which enums can be kept: those that become objects of plain values, member by member. */
import { UnsupportedError } from "./code-error.ts";
import type { Tokens } from "./tokens.ts";

/** As much as the values of enums may grow to, in characters. */
const MAX_LENGTH = 1_000_000;
/** What one member becomes, beside the names in it. */
const MEMBER_LENGTH = 40;

/** How a name begins, or a string. */
const KEY = /^["'\p{ID_Start}$_\\]/u;

/** The enums of one program. */
export class Enums {
  readonly #tokens: Tokens;
  readonly #names = new Set<string>();
  #length = 0;

  constructor(tokens: Tokens) {
    this.#tokens = tokens;
  }

  /** Throws {@link UnsupportedError} unless the enum whose keyword is at `keyword` can be kept. */
  check(keyword: number): void {
    const tokens = this.#tokens;
    const name = tokens.text(keyword + 1);
    const open = keyword + 2;
    if (!tokens.isName(keyword + 1) || tokens.text(open) !== "{") return;
    if (this.#names.has(name)) throw this.#refuse(`There are two enums of the name ${name}`, keyword + 1);
    this.#names.add(name);
    const close = tokens.closing(open);
    const strings = new Set<string>();
    let isAfterString = false;
    for (let member = open + 1; member < close; ) {
      const key = tokens.text(member);
      this.#length += MEMBER_LENGTH + 2 * name.length + 6 * key.length;
      if (this.#length > MAX_LENGTH) throw this.#refuse("The enums are too large", member);
      const isKey = KEY.test(key) && ["=", ",", "}"].includes(tokens.text(member + 1));
      if (!isKey) throw this.#refuse("A member of an enum needs a plain name", member);
      const end = this.#findEnd(member, close);
      const hasValue = tokens.text(member + 1) === "=";
      if (!hasValue && isAfterString) throw this.#refuse("This member of an enum needs a value", member);
      isAfterString = hasValue && end === member + 3 && tokens.isString(member + 2);
      if (isAfterString) strings.add(key.replace(/^["']|["']$/g, ""));
      else this.#checkNumber(member + 2, end, strings);
      member = end + 1;
    }
  }

  #findEnd(member: number, close: number): number {
    const tokens = this.#tokens;
    let at = member;
    while (at < close && tokens.text(at) !== ",") {
      at = tokens.closing(at) + 1;
    }
    return Math.min(at, close);
  }

  #checkNumber(start: number, end: number, strings: ReadonlySet<string>): void {
    for (let index = start; index < end; index++) {
      const text = this.#tokens.text(index);
      if (this.#tokens.isString(index) || text === "`" || strings.has(text)) {
        throw this.#refuse("The value of an enum's member must be a string alone, or made of numbers", index);
      }
    }
  }

  #refuse(message: string, index: number): UnsupportedError {
    return new UnsupportedError(message, this.#tokens.start(index));
  }
}
