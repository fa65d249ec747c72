/**
 * The notation of an endpoint's methods in `atrium/server`: `threads.markAsRead(roomId, threadId, userId, seq?): thread`.
 * Arguments are parameters of the path and fields of query or body, by their names; an argument of another name has the
 * fields that are left.
 */

/** An argument of a method. Its type is that of the field, unless the notation says another. */
export interface SdkArgument {
  readonly name: string;
  readonly type: string | undefined;
  readonly isOptional: boolean;
  /** The value of an argument that is left out, as an expression. */
  readonly byDefault: string | undefined;
  /** The fields of an object that the notation spells out. */
  readonly fields: readonly string[] | undefined;
}

export interface SdkSignature {
  /** The property of `AtriumServer` that has the method; `AtriumServer` itself without it. */
  readonly owner: string | undefined;
  readonly method: string;
  readonly args: readonly SdkArgument[];
  /** All of `data`, one of its fields, the items of a field of all pages, or nothing. */
  readonly result: "data" | "field" | "each" | "nothing";
  /** The field of `field` and `each`. */
  readonly field: string;
  /** The name or the expression of the returned type, if the notation says it. */
  readonly type: string | undefined;
}

/** The owner whose methods have the identity of `atrium.inbox(identityId)`. */
export const INBOX = "inbox";
export const INBOX_ARGUMENT = "identityId";

const SIGNATURE = /^(?:(\w+)(?:\(identityId\))?\.)?(\w+)\((.*)\)(?:: (.+))?$/;
const ARGUMENT = /^(\w+)(\?)?(?:: (.+?))?(?: = (.+))?$/;
const RESULT = /^(each )?([a-z]\w*)(?: as (.+))?$/;

/** Throws for text that is no signature. */
export function parseSignature(text: string): SdkSignature {
  const [, owner, method, args, result] = SIGNATURE.exec(text) ?? [];
  if (method === undefined || args === undefined) throw new Error(`sdk: "${text}" is no signature`);
  return { owner, method, args: splitArguments(args).map(parseArgument), ...parseResult(result) };
}

function parseResult(text: string | undefined): Pick<SdkSignature, "result" | "field" | "type"> {
  if (text === undefined) return { result: "nothing", field: "", type: undefined };
  const [, each, field, type] = RESULT.exec(text) ?? [];
  if (field === undefined) return { result: "data", field: "", type: text };
  if (each !== undefined) return { result: "each", field, type };
  return field === "data" ? { result: "data", field: "", type } : { result: "field", field, type };
}

/** The parts between the commas that are in no brackets. */
const splitArguments = (text: string): string[] =>
  text.match(/(?:\{[^}]*\}|<[^>]*>|\[[^\]]*\]|[^,])+/g)?.map((part) => part.trim()) ?? [];

function parseArgument(text: string): SdkArgument {
  if (text.startsWith("{")) {
    const fields = text.match(/\w+/g) ?? [];
    return { name: "", type: undefined, isOptional: false, byDefault: undefined, fields };
  }
  const [, name, optional, type, byDefault] = ARGUMENT.exec(text) ?? [];
  if (name === undefined) throw new Error(`sdk: "${text}" is no argument`);
  return { name, type, isOptional: optional !== undefined, byDefault, fields: undefined };
}
