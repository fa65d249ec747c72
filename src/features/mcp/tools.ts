/** The tools that agents see: the operations of the API description, by what they are about and whether they change it. */
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
} from "../../http/openapi/described.ts";

export interface ToolOperation {
  readonly entry: Entry;
  readonly input: OperationInput;
}

interface Tool {
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

/** All tools by name. Made once: it walks the whole description. */
export function toolsOf(described: Described): ReadonlyMap<string, Tool> {
  const schemas = described.components?.schemas ?? {};
  const grouped = new Map<string, { readonly about: string; readonly entries: Entry[] }>();
  for (const entry of entriesOf(described)) {
    const { operation } = entry;
    // Sockets, uploads and the bytes of files are nothing for a tool.
    if (isWithheld(operation.operationId) || formOf(operation) !== undefined || !isJson(entry)) continue;
    const { group, about } = groupOf(entry.path.replace(ACCOUNT_PREFIX, ""));
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

function toolOf(name: string, about: string, operations: readonly ToolOperation[]): Tool {
  const entries = operations.map(({ entry }) => entry);
  const lines = operations.map(
    ({ entry: { operation } }) => `- ${operation.operationId}: ${operation.summary}.`,
  );
  return {
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

const GROUPS: readonly (readonly [prefix: string, group: string, about: string])[] = [
  [
    "/rooms/{roomId}/stores",
    "stores",
    "Stores: maps from keys to JSON values that everyone in a room shares.",
  ],
  [
    "/rooms/{roomId}/documents",
    "documents",
    "Documents: text that the users of a room edit together, and its versions.",
  ],
  ["/rooms/{roomId}/comments", "comments", "Comments in a room, in threads."],
  ["/rooms/{roomId}/threads", "comments", ""],
  ["/rooms/{roomId}/users", "comments", ""],
  ["/rooms/{roomId}/presence", "presence", "Presence: who is online in a room, and what they show."],
  ["/rooms/{roomId}/participants", "presence", ""],
  ["/rooms/{roomId}/broadcast", "presence", ""],
  ["/rooms/{roomId}/events", "events", ""],
  [
    "/rooms/{roomId}/access",
    "access",
    "Access: what identities and groups may do in a room and why, and its links for guests.",
  ],
  ["/access", "access", ""],
  ["/rooms/{roomId}/links", "access", ""],
  ["/links", "access", ""],
  ["/rooms", "rooms", "Rooms: the places where users work together."],
  ["/users", "users", "The users of a room."],
  ["/organization/users", "users", ""],
  ["/identities", "identities", "Identities: end users in all rooms, their groups and their inboxes."],
  ["/groups", "identities", ""],
  ["/files", "files", "The files of a room."],
  ["/upload", "files", ""],
  ["/organization/files", "files", ""],
  ["/webhooks", "webhooks", "Webhooks: URLs that receive events."],
  ["/workflows", "workflows", "Workflows: functions that the service runs on events."],
  ["/events", "events", "The log of what happened, oldest first."],
  ["", "organization", "The organization: its metrics and its quotas."],
];

/**
 * Agents read text of strangers, so these are withheld: access, its end for others, secrets, binary Yjs updates, and
 * changes of inboxes and of what reaches them.
 */
const WITHHELD: ReadonlySet<string> = new Set([
  "listApiKeys",
  "createApiKey",
  "revokeApiKey",
  "listMembers",
  "listAuditEntries",
  "updateMember",
  "removeMember",
  "createPasswordLink",
  "listInvitations",
  "createInvitation",
  "deleteInvitation",
  "updateOrganization",
  "deleteOrganization",
  "subscribeToThread",
  "unsubscribeFromThread",
  "markThreadAsRead",
  "updateSubscriptionSettings",
  "createTextMention",
  "deleteTextMention",
  "createIdentity",
  "updateIdentity",
  "deleteIdentity",
  "eraseIdentityData",
  "createGroup",
  "updateGroup",
  "deleteGroup",
  "addGroupMember",
  "removeGroupMember",
  "updateRoomAccess",
  "updateDefaultAccess",
  "createRoomLink",
  "revokeRoomLink",
  "redeemLink",
  "identify",
  "createIdentityToken",
  "endIdentityTokens",
  "markInboxNotificationsAsRead",
  "deleteInboxNotification",
  "deleteInboxNotifications",
  "triggerInboxNotification",
  "listOwnInboxNotifications",
  "countOwnInboxNotifications",
  "markOwnInboxNotificationsAsRead",
  "deleteOwnInboxNotification",
  "deleteOwnInboxNotifications",
  "getOwnNotificationSettings",
  "updateOwnNotificationSettings",
  "updateNotificationSettings",
  "updateNotificationDefaults",
  "listPushSubscriptions",
  "deletePushSubscription",
  "listOwnPushSubscriptions",
  "subscribeToPush",
  "unsubscribeFromPush",
  "createToken",
  "endTokens",
  "endAllTokens",
  "rotateWebhookSecret",
  "setWorkflowSecret",
  "rotateWorkflowTriggerSecret",
  "deleteWorkflowTriggerSecret",
  "writeStores",
  "getDocument",
  "updateDocument",
  "deleteDocument",
  "deleteDocumentVersion",
]);

/** Its question is a body, and it changes nothing. */
const READING_POST = "checkRoomAccess";

const isWithheld = (operation: string): boolean => WITHHELD.has(operation);

function groupOf(path: string): { readonly group: string; readonly about: string } {
  const group = GROUPS.find(([prefix]) => path.startsWith(prefix))?.[1] ?? "";
  const about = GROUPS.find(([, name, text]) => name === group && text !== "")?.[2] ?? "";
  return { group, about };
}

const ACCOUNT = "accountId";
/** The argument that is the whole body of an operation whose body is no object with known fields. */
export const WHOLE_BODY = "body";

/** The place of each argument of an operation, and the schema of all of them. */
interface OperationInput {
  readonly path: ReadonlySet<string>;
  readonly query: ReadonlySet<string>;
  readonly body: ReadonlySet<string>;
  /** Whether the body is the argument {@link WHOLE_BODY}, and not an object of arguments. */
  readonly isBodyWhole: boolean;
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
  const properties = [
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
