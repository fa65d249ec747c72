/** The methods of `atrium/server`, generated from the endpoints that declare them. */
import path from "node:path";
import { pathToFileURL } from "node:url";
import {
  INBOX,
  INBOX_ARGUMENT,
  parseSignature,
  type SdkArgument,
  type SdkSignature,
} from "@atrium/contract/openapi/sdk-signature.ts";
import type * as z from "zod";
import type { AnyEndpoint } from "../../http/endpoint.ts";
import { ROOT } from "../process/supervisor.ts";
import { commentOf, isRequired, SdkTypes, type Shape, shapeOf, typeOfParameter } from "./sdk-types.ts";

/** Generates the module. Throws for a signature that does not fit its endpoint. */
export async function generateServerSdk(endpoints: readonly AnyEndpoint[]): Promise<string> {
  const written = await import(pathToFileURL(path.join(ROOT, "packages/sdk/server/written.ts")).href);
  const sdk = new ServerSdk(await SdkTypes.load(), written);
  for (const endpoint of endpoints) for (const text of [endpoint.sdk ?? []].flat()) sdk.add(endpoint, text);
  return sdk.print();
}

/** The JSON of an endpoint. */
interface Request {
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly params: readonly string[];
  readonly query: Shape;
  readonly body: Shape;
  readonly bodySchema: z.core.$ZodType | undefined;
  readonly data: z.core.$ZodType;
}

function requestOf(endpoint: AnyEndpoint): Request {
  if (endpoint.kind === "raw") throw new Error("It has no JSON");
  const { method, path, operation, query, body, data } = endpoint;
  const params = [...path.matchAll(/[:*](\w+)/g)].map(([, name = ""]) => name);
  return {
    ...{ method, path, operation, params, data },
    ...{ query: shapeOf(query), body: shapeOf(body), bodySchema: body },
  };
}

/** The argument with the fields of body or query that no other argument has. */
interface Remainder {
  readonly argument: SdkArgument | undefined;
  readonly isBody: boolean;
  readonly fields: Shape;
}

class ServerSdk {
  readonly #types: SdkTypes;
  /** The hand-written classes, which the generated ones extend. */
  readonly #written: Readonly<Record<string, unknown>>;
  /** Methods by owner; an empty name stands for `AtriumServer` itself. */
  readonly #methods = new Map<string, string[]>();

  constructor(types: SdkTypes, written: Readonly<Record<string, unknown>>) {
    this.#types = types;
    this.#written = written;
  }

  add(endpoint: AnyEndpoint, text: string): void {
    const signature = parseSignature(text);
    const { owner = "", method } = signature;
    const methods = this.#methods.get(owner) ?? [];
    this.#methods.set(owner, methods);
    const base = this.#written[baseOf(classOf(owner))];
    if (typeof base === "function" && method in base.prototype) return;
    try {
      methods.push(docOf(endpoint, signature) + this.#method(requestOf(endpoint), signature));
    } catch (cause) {
      throw new Error(`"${text}" does not fit ${endpoint.operation}: ${String(cause)}`, { cause });
    }
  }

  print(): string {
    const owners = [...this.#methods.keys()].filter((owner) => owner !== "").sort();
    const fields = owners
      .filter((owner) => owner !== INBOX)
      .map((owner) => `readonly ${owner} = new ${classOf(owner)}(this.rest);`);
    const own = [fields.join("\n"), ...(this.#methods.get("") ?? [])].join("\n\n");
    return [
      "/** Written by `npm run dev -- sdk` from the endpoints: the methods of `AtriumServer` that make one request. */",
      'import type * as input from "../wire/requests.ts";',
      'import type * as wire from "../wire/resources.ts";',
      'import { eachOf, Resource } from "./pages.ts";',
      'import * as written from "./written.ts";',
      ...this.#types.imports(),
      "",
      ...this.#types.interfaces(),
      ...owners.map((owner) => this.#class(owner)),
      "/** The methods of `AtriumServer` itself, and its resources. */",
      `export abstract class Operations extends Resource {\n${own}\n}\n`,
    ].join("\n");
  }

  #class(owner: string): string {
    const name = classOf(owner);
    const written = baseOf(name);
    const base = written in this.#written ? `written.${written}` : "Resource";
    const place = owner === INBOX ? `${INBOX}(${INBOX_ARGUMENT})` : owner;
    const methods = this.#methods.get(owner) ?? [];
    return `${commentOf(`The methods of \`AtriumServer.${place}\`.`)}export class ${name} extends ${base} {\n${methods.join("\n\n")}\n}\n`;
  }

  #method(request: Request, signature: SdkSignature): string {
    const { args, method, owner, result, field } = signature;
    const remainder = remainderOf(request, args);
    const parameters = args.map((argument) =>
      argument === remainder.argument
        ? this.#remainderParameter(request, signature, argument, remainder)
        : this.#parameter(request, argument),
    );
    const address = addressOf(request, owner, args);
    const returned = this.#returned(request, signature);
    const head = `${method}(${parameters.join(", ")})`;
    if (result === "each") {
      // A log of records has pages of its own size.
      const part = "limit" in request.query ? "part" : "{ after }";
      const query = partsOf(request, args, remainder, "query", part === "part" ? ["...part"] : ["after"]);
      return `${head}: AsyncGenerator<${returned}, void, void> {
        return eachOf("${field}", (${part}) => this.rest.get(${address}, ${query}));
      }`;
    }
    const call = callOf(request, address, remainder, {
      body: partsOf(request, args, remainder, "body"),
      query: partsOf(request, args, remainder, "query"),
      isVoid: result === "nothing",
    });
    return `${head}: Promise<${returned}> {
      return ${result === "field" ? `this.only("${field}", ${call})` : call};
    }`;
  }

  /** A parameter of the path is text, and a field has the type of its schema. */
  #parameter({ params, query, body }: Request, { name, type, isOptional, byDefault }: SdkArgument): string {
    const inBody = params.includes(name) ? undefined : body[name];
    const inQuery = params.includes(name) ? undefined : query[name];
    const ofField = inBody ? this.#types.input(inBody) : inQuery ? typeOfParameter(inQuery) : "string";
    const shown = type === undefined ? ofField : this.#types.resolve(type);
    return `${name}${isOptional ? "?" : ""}: ${shown}${byDefault === undefined ? "" : ` = ${byDefault}`}`;
  }

  #remainderParameter(
    { operation, bodySchema }: Request,
    { result }: SdkSignature,
    { name, type, isOptional }: SdkArgument,
    { isBody, fields }: Remainder,
  ): string {
    const body = isBody ? bodySchema : undefined;
    const shown =
      type === undefined
        ? this.#types.unnamedArgument(body, fields)
        : this.#types.namedArgument(type, operation, body, fields, result === "each");
    return `${name}: ${shown}${isOptional ? " = {}" : ""}`;
  }

  #returned({ operation, data }: Request, { result, field, type }: SdkSignature): string {
    if (result === "nothing") return "void";
    if (type !== undefined)
      return result === "data" ? this.#types.namedResponse(type, operation, data) : this.#types.resolve(type);
    if (result === "data") return this.#types.response(data);
    const schema = shapeOf(data)[field];
    if (schema === undefined) throw new Error(`The response has no field ${field}`);
    return result === "each" ? this.#types.item(schema) : this.#types.output(schema);
  }
}

const classOf = (owner: string): string => owner.charAt(0).toUpperCase() + owner.slice(1);
/** The name of the hand-written class that a generated one extends, if there is one. */
const baseOf = (name: string): string => `${name}Base`;

function docOf({ summary, details = "", ...endpoint }: AnyEndpoint, { result }: SdkSignature): string {
  const pages = result === "each" ? ", page by page as they are needed" : "";
  const conflict = endpoint.conflict === undefined ? "" : ` \`CONFLICT\`: ${endpoint.conflict[0]}`;
  return commentOf(`${summary}${pages}.${details && ` ${details}`}${conflict}`);
}

/** Throws for a required field that no argument has. */
function remainderOf({ params, query, body, bodySchema }: Request, args: readonly SdkArgument[]): Remainder {
  const isField = ({ name }: SdkArgument) => params.includes(name) || name in query || name in body;
  const argument = args.find((each) => !isField(each));
  const leftOf = (shape: Shape): Shape =>
    Object.fromEntries(Object.entries(shape).filter(([name]) => args.every((each) => each.name !== name)));
  const [ofBody, ofQuery] = [leftOf(body), leftOf(query)];
  // A body of any JSON has no fields.
  const isBody =
    bodySchema !== undefined && (Object.keys(ofBody).length > 0 || Object.keys(body).length === 0);
  const covered = argument === undefined ? {} : isBody ? ofBody : ofQuery;
  const missing = Object.entries({ ...ofQuery, ...ofBody }).find(
    ([name, schema]) => isRequired(schema) && !(name in covered),
  );
  if (missing !== undefined) throw new Error(`No argument has ${missing[0]}`);
  return { argument, isBody, fields: isBody ? ofBody : ofQuery };
}

/** The expression of a body or a query; undefined if it has nothing. */
function partsOf(
  { params, query, body }: Request,
  args: readonly SdkArgument[],
  { argument, isBody }: Remainder,
  place: "body" | "query",
  more: readonly string[] = [],
): string | undefined {
  const own = ({ name }: SdkArgument) =>
    !params.includes(name) && (place === "body" ? name in body : name in query && !(name in body));
  const remainder = argument !== undefined && isBody === (place === "body") ? [`...${argument.name}`] : [];
  const parts = [...args.filter(own).map(({ name }) => name), ...remainder, ...more];
  const [first = ""] = parts;
  if (parts.length === 1 && first.startsWith("...")) return first.slice(3);
  return parts.length === 0 ? undefined : `{ ${parts.join(", ")} }`;
}

function addressOf(request: Request, owner: string | undefined, args: readonly SdkArgument[]): string {
  const segments = request.path
    .slice(1)
    .split("/")
    .map((segment) => {
      const [, name] = /^[:*](\w+)$/.exec(segment) ?? [];
      if (name === undefined) return `"${segment}"`;
      if (owner === INBOX && name === INBOX_ARGUMENT) return `this.${name}`;
      const argument = args.find((each) => each.name === name);
      if (argument === undefined) throw new Error(`No argument has ${name}`);
      return argument.type === "number" ? `\`\${${name}}\`` : name;
    });
  return `[${segments.join(", ")}]`;
}

interface Call {
  readonly body: string | undefined;
  readonly query: string | undefined;
  readonly isVoid: boolean;
}

/** A write under a version is not retried once it may have taken effect. */
function callOf(
  { method }: Request,
  address: string,
  remainder: Remainder,
  { body, query, isVoid }: Call,
): string {
  const options = [body && `body: ${body}`, query && `query: ${query}`].filter(Boolean);
  if ("ifVersion" in remainder.fields)
    options.push(`isConditional: ${remainder.argument?.name}.ifVersion !== undefined`);
  if ("ifVersion" in remainder.fields || (method === "DELETE" && !isVoid))
    return `this.rest.request({ ${[`method: "${method}"`, `path: ${address}`, ...options].join(", ")} })`;
  const further =
    method === "DELETE"
      ? [options.length === 0 ? undefined : `{ ${options.join(", ")} }`]
      : method === "GET"
        ? [query]
        : [body ?? (query && "undefined"), query];
  const given = [address, ...further].filter((each) => each !== undefined);
  return `this.rest.${method.toLowerCase()}(${given.join(", ")})`;
}
