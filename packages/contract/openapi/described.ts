/** The part of an OpenAPI document that the API reference and the tools of MCP read. */

/** The keywords of JSON Schema that the reference shows. */
export interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  /** The media type of bytes, such as a form's file. */
  readonly contentMediaType?: string;
  readonly description?: string;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly pattern?: string;
}

export type Schemas = Readonly<Record<string, Schema>>;

interface Content {
  readonly "application/json"?: { readonly schema?: Schema; readonly example?: unknown };
  readonly "multipart/form-data"?: { readonly schema?: Schema };
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

export interface Answer {
  readonly description: string;
  readonly content?: Content;
}

export interface Operation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
  /** The signature of the method of `atrium/server`, as `sdk-signature.ts` reads it. */
  readonly "x-sdk"?: string;
  readonly "x-instead-of-sdk"?: string;
}

export interface SecurityScheme {
  readonly type: string;
  readonly scheme?: string;
  readonly bearerFormat?: string;
  readonly in?: string;
  readonly name?: string;
  readonly description?: string;
}

export interface Described {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  /** Events that the service posts, by name. */
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: {
    readonly schemas?: Schemas;
    readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  };
}

export interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** An OpenAPI document as its readers see it. */
export const readDocument = (document: object): Described => document as Described;

export const entriesOf = (described: Described): Entry[] =>
  Object.entries(described.paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ method, path, operation }];
    }),
  );

export const nameOfRef = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1);

export const resolve = (schemas: Schemas, schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (schemas[nameOfRef(schema.$ref)] ?? {});

export const jsonOf = (part: { readonly content?: Content } | undefined): Schema | undefined =>
  part?.content?.["application/json"]?.schema;

export const formOf = (operation: Operation): Schema | undefined =>
  operation.requestBody?.content["multipart/form-data"]?.schema;

/** Whether the operation answers with JSON, and not with a socket or the bytes of a file. */
export function isJson({ operation }: Entry): boolean {
  const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
  return successes.length > 0 && successes.every(([, answer]) => jsonOf(answer) !== undefined);
}

/** True for statuses of success, and for 101, the response to a WebSocket upgrade. */
export const isSuccess = (status: string): boolean => /^[123]/.test(status);

export const isUpgrade = (operation: Operation): boolean => operation.responses["101"] !== undefined;
