/** Events by their names, each with a sentence. Without zod, so that pages can use them. Pure. */

/** The events of rooms, for webhooks and workflows. */
export const ROOM_EVENTS = {
  "participant.joined": "A user came online",
  "participant.left": "A user went offline",
  "session.started": "The first user joined an empty room",
  "session.closed": "The last user left a room",
  "user.created": "A user was created",
  "user.updated": "A user was changed",
  "user.deleted": "A user was deleted",
  "comment.created": "A comment was written",
  "comment.updated": "A comment was edited or reopened",
  "comment.resolved": "A comment was resolved",
  "comment.deleted": "A comment was deleted",
  "thread.created": "A thread was started",
  "thread.resolved": "A thread was resolved",
  "thread.deleted": "A thread was deleted with its last comment",
  "agent.mentioned": "A comment mentions an agent",
  "store.changed": "A store has changed, once within five seconds",
  "document.created": "A document was created",
  "document.updated": "A document has changed, once within ten seconds",
  "document.deleted": "A document was deleted",
  "version.created": "A version of a document was created",
  "suggestion.created": "Changes of a document were suggested",
  "suggestion.reviewed": "Suggested changes were accepted or rejected",
  "file.uploaded": "A file was uploaded",
  "file.deleted": "A file was deleted",
  "room.created": "A room was created",
  "room.updated": "A room was renamed or reopened, or got another custom ID",
  "room.closed": "A room was closed",
  "room.deleted": "A room was deleted",
  "access.changed": "The access to a room was changed",
} as const;

/** The events that belong to no room, for webhooks: of identities and groups, and notices about other webhooks and workflows. */
export const OTHER_EVENTS = {
  "identity.created": "An identity was created",
  "identity.updated": "An identity was changed",
  "identity.deleted": "An identity was deleted",
  "group.created": "A group was created",
  "group.updated": "A group was renamed, or an identity joined or left it",
  "group.deleted": "A group was deleted",
  notification: "Notifications have stayed unread, and your back end is to send them",
  "webhook.backlogged": "Another webhook has a high backlog",
  "workflow.disabled": "The service has disabled a workflow",
} as const;

export const namesIn = <Events extends object>(events: Events) =>
  Object.keys(events) as [keyof Events & string, ...(keyof Events & string)[]];

const NAMES = [...namesIn(ROOM_EVENTS), ...namesIn(OTHER_EVENTS)] as const;
type NameOf<Kind extends string> = Extract<(typeof NAMES)[number], `${Kind}.${string}`>;

/** The names of the events of one kind of thing. */
export const eventsOf = <Kind extends string>(kind: Kind): readonly NameOf<Kind>[] =>
  NAMES.filter((name): name is NameOf<Kind> => name.startsWith(`${kind}.`));

/** Whether an event is of one kind of thing. */
export const isOf = <Kind extends string>(kind: Kind, event: string): event is NameOf<Kind> =>
  eventsOf(kind).some((name) => name === event);

/** True for events of rooms about one user. */
export const isAboutUser = (event: string): boolean =>
  !/^(session|store|document|version|suggestion|room|access)\./.test(event);
