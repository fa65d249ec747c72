/** Tools of agents: operations of the API description, grouped by resource and by whether they change it. */

import {
  type Described,
  type Entry,
  entriesOf,
  formOf,
  isJson,
  isSuccess,
  jsonOf,
  nameOfRef,
  resolve,
  type Schema,
  type Schemas,
} from "@atrium/contract/openapi/described.ts";
import type { AnyEndpoint } from "../../http/endpoint.ts";

export interface ToolOperation {
  readonly entry: Entry;
  readonly input: OperationInput;
}

interface Tool {
  readonly about: string;
  readonly shown: {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly inputSchema: Schema;
    readonly annotations: {
      readonly readOnlyHint: boolean;
      readonly destructiveHint: boolean;
      readonly openWorldHint: boolean;
    };
  };
  readonly operations: ReadonlyMap<string, ToolOperation>;
}

const ACCOUNT_PREFIX = /^\/v1\/accounts\/\{accountId\}/;

/** All tools of these endpoints by name. Made once: it walks the whole description. */
export function toolsOf(
  described: Described,
  endpoints: readonly Pick<AnyEndpoint, "operation" | "isForAgents">[],
): ReadonlyMap<string, Tool> {
  const schemas = described.components?.schemas ?? {};
  const withheld = new Set(endpoints.flatMap((each) => (each.isForAgents === false ? each.operation : [])));
  const grouped = new Map<string, { readonly about: string; readonly entries: Entry[] }>();
  for (const entry of entriesOf(described)) {
    const { operation } = entry;
    // Sockets, uploads and the bytes of files are nothing for a tool.
    if (withheld.has(operation.operationId) || formOf(operation) !== undefined || !isJson(entry)) continue;
    const path = entry.path.replace(ACCOUNT_PREFIX, "");
    const [group = "", , about = ""] = GROUPS.find(([, paths]) => paths.test(path)) ?? [];
    const isReading = entry.method === "get" || operation.operationId === READING_POST;
    const name = `${isReading ? "read" : "change"}_${group}`;
    const tool = grouped.get(name) ?? { about, entries: [] };
    tool.entries.push(entry);
    grouped.set(name, tool);
  }
  return new Map(
    [...grouped].map(([name, { about, entries }]) => {
      const operations = entries.map((entry) => ({ entry, input: inputOf(schemas, entry) }));
      return [name, toolOf(name, about, operations)];
    }),
  );
}

/** Tools reduced to the offered operations; a tool without any is left out. */
export const offeredOf = (
  tools: ReadonlyMap<string, Tool>,
  isOffered: (operation: string) => boolean,
): ReadonlyMap<string, Tool> =>
  new Map(
    [...tools].flatMap(([name, { about, operations }]) => {
      const offered = [...operations.values()].filter(({ entry }) => isOffered(entry.operation.operationId));
      return offered.length === 0 ? [] : [[name, toolOf(name, about, offered)] as const];
    }),
  );

function toolOf(name: string, about: string, operations: readonly ToolOperation[]): Tool {
  const entries = operations.map(({ entry }) => entry);
  const lines = operations.map(
    ({ entry: { operation } }) => `- ${operation.operationId}: ${operation.summary}.`,
  );
  return {
    about,
    shown: {
      name,
      title: name.replace("_", " ").replace(/^./, (first) => first.toUpperCase()),
      description: [about, "Operations:", ...lines].join("\n"),
      inputSchema: {
        type: "object",
        properties: {
          operation: { type: "string", enum: entries.map(({ operation }) => operation.operationId) },
          arguments: { anyOf: operations.map(argumentsOf) },
        },
        required: ["operation"],
      },
      annotations: {
        readOnlyHint: name.startsWith("read_"),
        destructiveHint: entries.some(({ method }) => method === "delete"),
        openWorldHint: false,
      },
    },
    operations: new Map(operations.map((operation) => [operation.entry.operation.operationId, operation])),
  };
}

/** The schema of the data in an operation's response. */
export function dataOf({ components }: Described, { operation }: Entry): Schema {
  const [, answer] = Object.entries(operation.responses).find(([status]) => isSuccess(status)) ?? [];
  return resolve(components?.schemas ?? {}, jsonOf(answer) ?? {}).properties?.data ?? {};
}

const argumentsOf = ({ entry: { operation }, input: { schema } }: ToolOperation): Schema => ({
  title: operation.operationId,
  description: operation.description ?? operation.summary,
  ...schema,
});

/** Each group with the paths of its operations, which belong to the first that fits. */
const GROUPS: readonly (readonly [group: string, paths: RegExp, about: string])[] = [
  [
    "stores",
    /^\/rooms\/{roomId}\/stores/,
    "Stores: maps from keys to JSON values that everyone in a room shares.",
  ],
  [
    "documents",
    /^\/rooms\/{roomId}\/documents/,
    "Documents: text that the users of a room edit together, and its versions.",
  ],
  [
    "streams",
    /^\/rooms\/{roomId}\/streams/,
    "Streams: what is written piece by piece; REST reads and writes them.",
  ],
  ["comments", /^\/rooms\/{roomId}\/(comments|threads|users)/, "Comments in a room, in threads."],
  [
    "presence",
    /^\/rooms\/{roomId}\/(presence|participants|broadcast)/,
    "Presence: who is online in a room, and what they show.",
  ],
  ["events", /^(\/rooms\/{roomId})?\/events/, "The log of what happened, oldest first."],
  [
    "access",
    /^(\/rooms\/{roomId})?\/(access|links)/,
    "Access: what identities and groups may do in a room and why, and its links for guests.",
  ],
  ["rooms", /^\/rooms/, "Rooms: the places where users work together."],
  ["users", /^(\/organization)?\/users/, "The users of a room."],
  ["inbox", /^\/me/, "The inbox of the identity itself."],
  [
    "identities",
    /^\/(identities|groups)/,
    "Identities: end users in all rooms, their groups and their inboxes.",
  ],
  ["files", /^(\/organization)?\/files|^\/upload/, "The files of a room."],
  ["webhooks", /^\/webhooks/, "Webhooks: URLs that receive events."],
  ["workflows", /^\/workflows/, "Workflows: functions that the service runs on events."],
  ["organization", /^/, "The organization: its metrics and its quotas."],
];

/** The only POST that changes nothing: its body is a question. */
const READING_POST = "checkRoomAccess";

const ACCOUNT = "accountId";
/** The argument that is sent as the header of a request that may be repeated. */
export const IDEMPOTENCY_KEY = "idempotencyKey";
/** The argument that is the whole body of an operation whose body is no object with known fields. */
export const WHOLE_BODY = "body";

/** The place of each argument of an operation, and the schema of all of them. */
interface OperationInput {
  readonly path: ReadonlySet<string>;
  readonly query: ReadonlySet<string>;
  readonly body: ReadonlySet<string>;
  /** Whether the body is the argument {@link WHOLE_BODY}, and not an object of arguments. */
  readonly isBodyWhole: boolean;
  /** Whether it takes the argument {@link IDEMPOTENCY_KEY}. */
  readonly isRepeatable: boolean;
  readonly schema: Schema;
}

/** Throws for an operation that names two arguments alike: one of the API's tests makes all of them. */
function inputOf(schemas: Schemas, { operation }: Entry): OperationInput {
  const parameters = (operation.parameters ?? []).filter(({ name, in: place }) =>
    place === "path" ? name !== ACCOUNT : place === "query",
  );
  const given = jsonOf(operation.requestBody);
  const isBodyWhole = given !== undefined && resolve(schemas, given).properties === undefined;
  const body: Schema = isBodyWhole
    ? { properties: { [WHOLE_BODY]: given }, required: [WHOLE_BODY] }
    : resolve(schemas, given ?? {});
  const bodyFields = Object.entries(body.properties ?? {});
  const clash = bodyFields.find(([field]) => parameters.some(({ name }) => name === field));
  if (clash !== undefined) throw new Error(`${operation.operationId} takes ${clash[0]} twice`);
  const namesIn = (place: string) =>
    new Set(parameters.flatMap((parameter) => (parameter.in === place ? parameter.name : [])));
  const isRepeatable = operation.parameters?.some(({ name }) => name === "Idempotency-Key") === true;
  const properties = [
    ...(isRepeatable
      ? [
          [
            IDEMPOTENCY_KEY,
            { type: "string", description: "Sent again with the same key, it is done once." },
          ] as const,
        ]
      : []),
    ...parameters.map(({ name, description, schema = {} }) => {
      const inlined = inline(schemas, schema);
      return [name, description === undefined ? inlined : { ...inlined, description }] as const;
    }),
    ...bodyFields.map(([name, schema]) => [name, inline(schemas, schema)] as const),
  ];
  return {
    path: namesIn("path"),
    query: namesIn("query"),
    body: new Set(bodyFields.map(([name]) => name)),
    isBodyWhole,
    isRepeatable,
    schema: {
      type: "object",
      properties: Object.fromEntries(properties),
      required: [
        ...parameters.flatMap(({ name, required }) => (required === true ? name : [])),
        ...(body.required ?? []),
      ],
    },
  };
}

/** The schema without references and examples: a tool has to explain itself, and in few words. */
function inline(schemas: Schemas, schema: Schema, within: readonly string[] = []): Schema {
  if (schema.$ref !== undefined) {
    const name = nameOfRef(schema.$ref);
    return within.includes(name) ? {} : inline(schemas, schemas[name] ?? {}, [...within, name]);
  }
  const { example: _, examples: __, properties, items, anyOf, oneOf, ...rest } = schema;
  const inner = (part: Schema) => inline(schemas, part, within);
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, inner(part)])),
    }),
    ...(items && { items: inner(items) }),
    ...(anyOf && { anyOf: anyOf.map(inner) }),
    ...(oneOf && { oneOf: oneOf.map(inner) }),
  };
}
