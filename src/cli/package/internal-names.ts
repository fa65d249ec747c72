/**
 * Members of the SDK's own classes that the build shortens: names take more of a client's bytes than what they name.
 * All entries are built together, so each name is shortened everywhere in the same way. A name may only be here if it
 * is no field of the wire, of the public interface, or of the platform.
 */
const INTERNAL_NAMES = [
  ...["addBatch", "addFirst", "addFollows", "addLists", "claims", "continueFrom", "declared", "discard"],
  ...[
    "fault",
    "followedBy",
    "followersOf",
    "getConfirmed",
    "handle",
    "hasUnsynced",
    "isConnected",
    "isEmpty",
  ],
  ...["isOutdated", "isPending", "isRenewable", "isUsable", "isWaiting", "joinedAt", "keeper", "obtain"],
  ...["onJoined", "onSending", "onStopped", "planReconnect", "prepare", "refusal", "rejoin", "removeUser"],
  ...[
    "renewInMs",
    "replaceFollows",
    "replaceRoomState",
    "replica",
    "runtime",
    "sealed",
    "sendAgain",
    "sendAll",
  ],
  ...["setFollow", "settle", "succeed", "suspend", "takeUpdate", "unanswered", "urlOf"],
];

/** Matches the names to shorten. */
export const INTERNAL = new RegExp(`^(${INTERNAL_NAMES.join("|")})$`);
