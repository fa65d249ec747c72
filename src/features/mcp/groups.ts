/** Which operations of the API agents may use, and how they are grouped into tools. */

/** A group by how the paths of its operations begin; the first that fits has an operation. */
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
  ["/rooms/{roomId}/presence", "presence", "Presence: who is online in a room, and what they show."],
  ["/rooms/{roomId}/participants", "presence", ""],
  ["/rooms/{roomId}/broadcast", "presence", ""],
  ["/rooms/{roomId}/events", "events", ""],
  ["/rooms", "rooms", "Rooms: the places where users work together."],
  ["/users", "users", "The users of a room."],
  ["/files", "files", "The files of a room."],
  ["/upload", "files", ""],
  ["/organization/files", "files", ""],
  ["/webhooks", "webhooks", "Webhooks: URLs that receive events."],
  ["/workflows", "workflows", "Workflows: functions that the service runs on events."],
  ["/events", "events", "The log of what happened, oldest first."],
  ["", "organization", "The organization: its figures and its quotas."],
];

/**
 * What agents may not do, because what they read may come from strangers: hand out access, end it for others, or delete
 * the organization. Nor do secrets pass through a model. Documents are written as Yjs updates, which an agent cannot make.
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

export const isWithheld = (operation: string): boolean => WITHHELD.has(operation);

/** The group of a path below the account, as the API description writes it. */
export function groupOf(path: string): { readonly group: string; readonly about: string } {
  const group = GROUPS.find(([prefix]) => path.startsWith(prefix))?.[1] ?? "";
  const about = GROUPS.find(([, name, text]) => name === group && text !== "")?.[2] ?? "";
  return { group, about };
}

/** What may be read as a resource: its URI is `atrium:/` and the path. */
export const RESOURCE_OPERATIONS: readonly string[] = [
  "getRoom",
  "getPresence",
  "listStores",
  "getStore",
  "listComments",
];
