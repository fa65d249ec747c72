/**
 * Members of the SDK's own classes that the build shortens: names take more of a client's bytes than what they name.
 * All entries are built together, so each name is shortened everywhere in the same way. A name may only be here if it
 * is no field of the wire, of what clients store, or of the packages within (tests check these), of the public
 * interface, or of the platform.
 */
const INTERNAL_NAMES = [
  ...[
    "accept",
    "addBatch",
    "addFirst",
    "addFollows",
    "addLists",
    "answered",
    "cancel",
    "changed",
    "changeStream",
    "check",
  ],
  ...[
    "claims",
    "closed",
    "confirmed",
    "connection",
    "context",
    "continueFrom",
    "declared",
    "destination",
    "difference",
    "drop",
  ],
  ...[
    "discard",
    "early",
    "ended",
    "ending",
    "fail",
    "fault",
    "followedBy",
    "followersOf",
    "force",
    "getConfirmed",
  ],
  ...[
    "handle",
    "hasListeners",
    "hasUnsynced",
    "intervalMs",
    "isConnected",
    "isEmpty",
    "isOpen",
    "isOutdated",
    "isPending",
  ],
  ...["isRenewable", "isWaiting", "joinedAt", "keeper", "listen", "notify", "obtain", "onJoined"],
  ...["onSending", "onStopped", "opened", "overtakes", "pending", "prepare", "promise", "queue", "queued"],
  ...["receive", "receivedAt", "record", "restore"],
  ...["refusal", "rejoin", "removeUser", "replaceFollows", "replaceRoomState"],
  ...[
    "replica",
    "requestsAfter",
    "resend",
    "runtime",
    "scheduleNext",
    "sealLatest",
    "sealed",
    "sendAgain",
    "sendAll",
  ],
  ...["setFollow", "settle", "stopped", "succeed", "suspend", "takeUpdate", "tokens"],
  ...["trustedMs", "unseen", "urlOf", "usableUntil", "visible"],
  ...["webSocket"],
];

/** Matches the names to shorten. */
export const INTERNAL = new RegExp(`^(${INTERNAL_NAMES.join("|")})$`);
