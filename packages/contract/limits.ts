/** The room's limits (docs/protocol.md lists them): sizes in UTF-8 bytes of JSON, lengths in characters. */

export const LIMITS = {
  /** Changes kept for clients that reconnect: the latest of each entry, as far as they fit into a response to `JOIN_ROOM`. */
  keptChanges: 10_000,
  catchUpBytes: 1024 * 1024,
  changeLifetimeMs: 24 * 60 * 60 * 1000,

  /** Receipts of requests: how long they are kept, and how many of each user (or of the organization). */
  receiptLifetimeMs: 24 * 60 * 60 * 1000,
  receipts: 10_000,
  receiptBytes: 4 * 1024 * 1024,

  storeNameLength: 128,
  keyLength: 255,
  /** A value fits into a frame, with room for the rest of the message. */
  valueBytes: 192 * 1024,
  storeEntries: 100_000,
  storeBytes: 256 * 1024 * 1024,
  /** Entries of a store in one response to `STORE_SYNC`, and about how many bytes of JSON they may have. */
  pageEntries: 10_000,
  pageBytes: 1024 * 1024,
  /** Larger stores are downloaded over HTTP: a socket compresses on the room's own thread. */
  minDownloadBytes: 512 * 1024,
  /** Approximate size of one part of a download: a client parses it as a whole. */
  partBytes: 8 * 1024 * 1024,
  /** The least size of a part but the last in one response: others arrive while a client parses it. */
  minLineBytes: 2 * 1024 * 1024,
  /** Downloads that are open, each with a MiB in memory: further clients read over their sockets. */
  downloads: 32,
  downloadsOfUser: 4,
  /** Time without reading after which a download is given up. */
  downloadStallMs: 30_000,
  stores: 100,
  batchOperations: 500,
  batches: 100,
  /** Keys and values that one request writes: with the MiB before a mark, a client may leave 4 MiB of changes unconfirmed. */
  writtenBytes: 3 * 1024 * 1024,

  comments: 10_000,
  /** All comments of a room together, as JSON: one may have some 250 KiB of text, metadata, mentions and reactions. */
  roomCommentBytes: 64 * 1024 * 1024,
  commentLength: 10_000,
  anchorBytes: 4 * 1024,
  commentMetadataBytes: 32 * 1024,
  mentions: 50,

  /** Agents that one comment wakes. */
  wokenAgents: 50,
  /** Depth of a chain of agents that mention each other. */
  wakeDepth: 5,
  /** Wakes by agents: of all agents of a room in an hour, and of one agent in a room and day. */
  wakesInRoom: 100,
  wakesOfAgent: 200,
  /** Other comments of the thread in an `agent.mentioned` event, the bytes of their texts, and those of one. */
  wakeComments: 20,
  wakeTextBytes: 32 * 1024,
  wakeTextBytesOfOne: 8 * 1024,
  reactionLength: 32,
  /** Different reactions per comment, and users per reaction. */
  reactions: 20,
  reactingUsers: 200,

  followed: 100,
  /** The follows and the presence in the response to `JOIN_ROOM`: together below 64 KiB. */
  joinFollowsBytes: 24 * 1024,
  joinPresenceBytes: 32 * 1024,
  idLength: 255,

  presenceBytes: 8 * 1024,
  /** Clients send presence no more often, and not more often than ticks (R87). */
  presenceIntervalMs: 50,
  /** Interval of presence that no other socket sees: the largest age of a state that someone reads later (R101). */
  unseenPresenceMs: 10_000,
  /** All users of a room together: an object has 128 MB, and may have 32,768 sockets. */
  roomPresenceBytes: 16 * 1024 * 1024,
  /** One frame: the rest follows when the client has read this one. */
  presenceFrameBytes: 512 * 1024,
  removedFields: 1_000,
  /** Presence targets per socket, and the size of their list: with a presence state it must fit the socket's attachment. */
  subscriptions: 100,
  subscriptionBytes: 5 * 1024,

  eventNameLength: 128,
  broadcastBytes: 64 * 1024,
  /** Number of the latest broadcasts among which a room recognizes a repetition. */
  rememberedBroadcasts: 1_000,
  broadcastUsers: 1_000,

  usersShown: 1_000,
  /** Users whom one request names. */
  usersNamed: 100,
  /** Users in the response to a search, and the characters of its text. */
  usersFound: 20,
  searchLength: 256,
  /** Users per page of those who are online, and about how many bytes of JSON they may have: a crowd joins at once. */
  onlinePage: 200,
  onlinePageBytes: 64 * 1024,

  frameDepth: 40,

  /** Time from the upgrade to the response to `JOIN_ROOM`. */
  joinDeadlineMs: 10_000,
  silenceMs: 75_000,
  /** Longest interval between checks of a room's sockets, in which nothing is sent. */
  sweepIntervalMs: 420_000,
  frameBytes: 256 * 1024,
  /** Sockets that have not joined, per room and per address. */
  waitingSockets: 1_000,
  waitingPerAddress: 200,
  socketsPerUser: 32,
  /** Waiting broadcasts and expensive reads of one socket; further ones are refused. */
  waitingOfSocket: 32,
  /** All waiting messages of one user. A socket that sends more is closed. */
  waitingBytes: 8 * 1024 * 1024,
  waitingMessages: 2_000,
};
