/** The call of `atrium/server` for an operation, made from the signature that its endpoint declares. */
import * as api from "@atrium/contract/openapi/described.ts";
import { PATH_PARAMETERS } from "@atrium/contract/openapi/path-parameters.ts";
import {
  INBOX,
  INBOX_ARGUMENT,
  parseSignature,
  type SdkArgument,
} from "@atrium/contract/openapi/sdk-signature.ts";
import { exampleOf } from "./examples.ts";

export const SDK_PRELUDE = `import { AtriumServer } from "atrium/server";

export const atrium = new AtriumServer({ serverUrl, accountId, apiKey });
`;

/** Values that readers have, which samples name instead of showing one. */
const isVariable = (name: string): boolean =>
  name in PATH_PARAMETERS && PATH_PARAMETERS[name]?.example === undefined;

/** The call with its result; null for an operation without a method. */
export function sdkSample({ operation }: api.Entry, schemas: api.Schemas): string | null {
  const text = operation["x-sdk"];
  if (text === undefined) return null;
  const { owner, method, args, result, field } = parseSignature(text);
  const given = new Given(operation, schemas);
  const values = given.valuesOf(args);
  const place = owner === undefined ? "" : `.${owner}${owner === INBOX ? `(${INBOX_ARGUMENT})` : ""}`;
  const call = `atrium${place}.${method}(${values.join(", ")})`;
  if (result === "each")
    return `const ${field} = [];\nfor await (const item of ${call}) ${field}.push(item);`;
  const isTaken = (name: string) => values.some((value) => new RegExp(`\\b${name}\\b`).test(value));
  const kept = result === "data" ? shownFields(operation, schemas) : [];
  const variable = kept.length > 0 ? `{ ${kept.join(", ")} }` : camelCase(field || "result");
  const assigned = isTaken(variable) ? "result" : variable;
  return `${result === "nothing" ? "" : `const ${assigned} = `}await ${call};`;
}

const camelCase = (name: string): string =>
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const MAX_SHOWN_FIELDS = 4;
const OF_PAGES = ["total", "limit", "offset"];

/** The fields of a response that a sample names: none of one with many. */
function shownFields(operation: api.Operation, schemas: api.Schemas): string[] {
  const [, answer] = Object.entries(operation.responses).find(([status]) => api.isSuccess(status)) ?? [];
  const data = api.resolve(schemas, api.jsonOf(answer) ?? {}).properties?.data ?? {};
  const names = Object.keys(api.resolve(schemas, data).properties ?? {});
  const shown = names.filter((name) => !OF_PAGES.includes(name));
  return shown.length > MAX_SHOWN_FIELDS ? [] : shown;
}

/** The example values of an operation's arguments. */
class Given {
  readonly #query: readonly api.Parameter[];
  readonly #schemas: api.Schemas;
  readonly #fields: readonly string[];
  readonly #body: unknown;

  constructor({ parameters = [], requestBody }: api.Operation, schemas: api.Schemas) {
    const body = api.jsonOf(requestBody);
    this.#query = parameters.filter((parameter) => parameter.in === "query");
    this.#schemas = schemas;
    this.#fields = Object.keys(api.resolve(schemas, body ?? {}).properties ?? {});
    this.#body = body && exampleOf(body, schemas);
  }

  /** The arguments, up to the first that may be left out and has no example. */
  valuesOf(args: readonly SdkArgument[]): string[] {
    const values: string[] = [];
    const names = args.map(({ name }) => name);
    for (const argument of args) {
      const value = this.#isField(argument) ? this.#valueOf(argument) : this.#restOf(names);
      if (value === null && argument.isOptional) break;
      values.push(value ?? argument.name);
    }
    return values;
  }

  #isField({ name, fields }: SdkArgument): boolean {
    const isInQuery = this.#query.some((parameter) => parameter.name === name);
    return fields !== undefined || name in PATH_PARAMETERS || isInQuery || this.#fields.includes(name);
  }

  #valueOf({ name, type, fields }: SdkArgument): string | null {
    if (fields !== undefined)
      return `{ ${fields.map((each) => property(each, this.#exampleOf(each))).join(", ")} }`;
    if (type === "Uint8Array" || isVariable(name)) return name;
    const example = this.#exampleOf(name);
    return example === undefined ? null : literal(example);
  }

  #exampleOf(name: string): unknown {
    const parameter = this.#query.find((each) => each.name === name);
    if (parameter !== undefined) return this.#exampleOfParameter(parameter);
    return Object(this.#body)[name] ?? PATH_PARAMETERS[name]?.example;
  }

  #exampleOfParameter({ schema = {} }: api.Parameter): unknown {
    const example = exampleOf(schema, this.#schemas);
    return schema.enum?.includes("true") ? true : example;
  }

  /** The rest of the body or, of a query, the filter that says the most. */
  #restOf(named: readonly string[]): string | null {
    if (this.#body !== undefined) {
      const others = Object.entries(Object(this.#body)).filter(([name]) => !named.includes(name));
      return others.length === 0 && this.#fields.length > 0 ? null : literal(Object.fromEntries(others));
    }
    const filters = this.#query.filter(({ name }) => !named.includes(name) && name !== "sort");
    const filter = filters.find(({ name, schema }) => isVariable(name) || schema?.enum !== undefined);
    if (filter !== undefined) return literal({ [filter.name]: this.#exampleOfParameter(filter) });
    return filters.some(({ name }) => name === "limit") ? literal({ limit: 20 }) : null;
  }
}

const MAX_WIDTH = 80;

/** A value in the notation of TypeScript. */
function literal(value: unknown, indent = ""): string {
  const deeper = `${indent}  `;
  const isList = Array.isArray(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const parts = isList
    ? value.map((item) => literal(item, deeper))
    : Object.entries(value).map(([name, field]) => property(name, field, deeper));
  const [open, close, space] = isList ? ["[", "]", ""] : ["{", "}", " "];
  const line = parts.length === 0 ? open + close : `${open}${space}${parts.join(", ")}${space}${close}`;
  if (line.length + indent.length <= MAX_WIDTH && !line.includes("\n")) return line;
  return `${open}\n${parts.map((part) => `${deeper}${part},\n`).join("")}${indent}${close}`;
}

function property(name: string, value: unknown, indent = ""): string {
  if (isVariable(name) || value === undefined) return name;
  return `${/^[\w$]+$/.test(name) ? name : JSON.stringify(name)}: ${literal(value, indent)}`;
}
