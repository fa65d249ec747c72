/** Strings: functions that walk them are limited by length, and those that create them are counted. */
import { allocate, tick } from "../guard/guard.ts";
import { apply, getPrototypeOf, isArray, max, test } from "../guard/intrinsics.ts";
import { allocateFor, MAX_ITEMS, numberAt, tooLong, walk, walkTexts } from "./sizes.ts";
import { checkEach, functionsOf, globalHolders, method, type Native, replace } from "./wrap.ts";

const GROWING = ["repeat", "padStart", "padEnd", "replace", "replaceAll", "concat"];
const TRIVIAL = ["toString", "valueOf"];
/** References in a replacement to the text around the match. */
const REFERENCE = /\$[&`'\d<]/;
/** More than the length of any string. */
const MAX_GROWTH = 2 ** 32;

export function boundTexts(): void {
  const { prototype } = String;
  const walking = functionsOf(prototype, [...GROWING, ...TRIVIAL, "split"]);
  boundEach(prototype, walking, (text, args) => {
    walk(text);
    walkTexts(args);
  });
  boundEach(prototype, ["split"], (text) => allocate(16 * walk(text)));
  boundEach(prototype, ["repeat"], (text, args) => grow(text.length * max(0, numberAt(args, 0))));
  boundEach(prototype, ["padStart", "padEnd"], (text, args) => grow(max(text.length, numberAt(args, 0))));
  boundEach(prototype, ["concat"], (text, args) => {
    let { length } = text;
    for (let index = 0; index < args.length; index += 1) length += textAt(args, index).length;
    grow(length);
  });
  // The longest possible result: a replacement at every position, with the whole text in each reference.
  boundEach(prototype, ["replace", "replaceAll"], (text, args) => {
    const places = walk(text) + 1;
    if (typeof args[1] === "function") return;
    const replacement = textAt(args, 1);
    const growth = replacement.length * (test(REFERENCE, replacement) ? places : 1);
    if (places * growth > MAX_GROWTH) throw tooLong();
    allocate(places);
  });
  checkEach(String, ["raw"], (_, args) => {
    const template = args[0];
    if (typeof template === "object" && template !== null && "raw" in template) walk(template.raw);
  });
  boundReaders();
  replace(JSON, "stringify", stringifying);
}

/** Calls `check` with the receiver as the string that the native receives. */
function boundEach(
  holder: object,
  names: readonly PropertyKey[],
  check: (text: string, args: unknown[]) => void,
): void {
  for (const name of names) {
    replace(holder, name, (native) =>
      method((self, args) => {
        if (self === null || self === undefined) return apply(native, self, args);
        const text = `${self}`;
        check(text, args);
        return apply(native, text, args);
      }),
    );
  }
}

/** An argument as the string that the native receives: an object is converted once. */
function textAt(args: unknown[], index: number): string {
  const text = `${args[index]}`;
  args[index] = text;
  return text;
}

function grow(length: number): void {
  if (length > MAX_ITEMS) throw tooLong();
  allocate(2 * length);
}

/** Functions that read strings without being their methods. */
function boundReaders(): void {
  checkEach(JSON, ["parse"], (_, args) => allocate(4 * walk(textAt(args, 0))));
  const matching = [
    "exec",
    "test",
    Symbol.match,
    Symbol.matchAll,
    Symbol.replace,
    Symbol.search,
    Symbol.split,
  ];
  checkEach(RegExp.prototype, matching, (_, args) => {
    walk(textAt(args, 0));
    walkTexts(args);
  });
  const coding = ["encodeURI", "encodeURIComponent", "decodeURI", "decodeURIComponent"];
  for (const holder of globalHolders()) {
    checkEach(holder, [...coding, "escape", "unescape", "btoa", "atob"], (_, args) => {
      allocate(2 * walk(textAt(args, 0)));
    });
  }
  checkEach(TextEncoder.prototype, ["encode"], (_, args) => {
    if (args[0] !== undefined) allocate(3 * walk(textAt(args, 0)));
  });
  checkEach(TextDecoder.prototype, ["decode"], (_, args) => allocateFor(args));
  const listing = ["keys", "values", "entries", "getOwnPropertyNames", "getOwnPropertyDescriptors", "assign"];
  checkEach(Object, [...listing, "fromEntries"], (_, args) => walkTexts(args));
  // An expression that claims to be global and is not would never end.
  const matches = getPrototypeOf("".matchAll(/x/g));
  if (matches !== null) checkEach(matches, ["next"], () => tick());
}

/** A value that occurs in many places is written in each of them, so a replacer ticks in all. */
const stringifying = (native: Native): Native =>
  method((self, args) => {
    const replacer = args[1];
    const visit = function (this: unknown, key: unknown, item: unknown): unknown {
      tick();
      if (typeof item === "string") walk(item);
      return typeof replacer === "function" ? apply(replacer as Native, this, [key, item]) : item;
    };
    const text = apply(native, self, [args[0], visit, args[2]]);
    if (typeof text === "string") allocate(2 * text.length);
    // With a list of names it is written a second time: the first showed that the result is finite.
    return isArray(replacer) ? apply(native, self, args) : text;
  });
