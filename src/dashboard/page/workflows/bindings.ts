/** What a workflow is given, with types, as its author is told of it in the editor. */

export interface Binding {
  readonly name: string;
  /** As TypeScript has it. */
  readonly type: string;
  readonly about: string;
}

/** What stands behind each name, member by member. */
export const BINDINGS: Readonly<Record<string, readonly Binding[]>> = {
  store: [
    {
      name: "get",
      type: "(store: string, key: string): Promise<unknown>",
      about: "The value under a key of a store; null when there is none.",
    },
    {
      name: "getAll",
      type: "(store: string): Promise<Record<string, unknown>>",
      about: "All values of a store by their keys; empty when nobody has written to it.",
    },
  ],
  room: [
    {
      name: "get",
      type: "(): Promise<Room | null>",
      about: "The room with its figures as they are now; null when it has been deleted.",
    },
    {
      name: "getUsers",
      type: "(): Promise<User[]>",
      about: "The users of the room with their status, the newest first, at most 1,000.",
    },
  ],
  files: [
    {
      name: "list",
      type: "(filter?: { mimeType?: string; userId?: string }): Promise<StorageFile[]>",
      about: "The files of the room, the newest first, at most 1,000.",
    },
    {
      name: "get",
      type: "(key: string): Promise<FileWithContent | null>",
      about:
        "A file with its data, text() and json(); null when the room has none of this key. At most 8 MiB.",
    },
    {
      name: "put",
      type: "(name: string, data: string | ArrayBuffer | Blob, type?: string): Promise<{ key: string; url: string }>",
      about: "Stores a new file of at most 8 MiB in the room.",
    },
    {
      name: "delete",
      type: "(key: string): Promise<boolean>",
      about: "Deletes a file of the room; false when it has none of this key.",
    },
  ],
  event: [
    { name: "id", type: "string", about: "The same for every webhook and workflow that is told of it." },
    { name: "event", type: "EventName", about: "Its name, such as participant.joined." },
    { name: "timestamp", type: "string", about: "When it happened: ISO 8601." },
    {
      name: "data",
      type: "{ roomId: string; userId?: string; sessionId?: string }",
      about: "What it is about, by ids.",
    },
    { name: "room", type: "Room", about: "The room after what happened." },
    { name: "user", type: "User", about: "Of participant and user events: the user, without its token." },
    { name: "users", type: "User[]", about: "Of session.closed: those who took part." },
  ],
};

export const OBJECTS: readonly Binding[] = [
  { name: "store", type: "StoreBinding", about: "The key-value stores of the room, to read." },
  { name: "room", type: "RoomBinding", about: "The room and its users, to read." },
  { name: "files", type: "FilesBinding", about: "The files of the room." },
  { name: "event", type: "Event", about: "What the run is for." },
];

/** What a member of `object`, or the object itself, is; undefined for what is no binding. */
export const findBinding = (object: string | undefined, name: string): Binding | undefined =>
  (object === undefined ? OBJECTS : BINDINGS[object])?.find((one) => one.name === name);
