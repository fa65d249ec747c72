/**
 * Members of the SDK's own classes that the build shortens: names take more of a client's bytes than what they name.
 * All entries are built together, so each name is shortened everywhere in the same way. A name may only be here if it
 * is no field of the wire, of what clients store (a test checks both), of the public interface, or of the platform.
 */
const INTERNAL_NAMES = [
  ...["addBatch", "addFirst", "addFollows", "addLists", "claims", "connection", "continueFrom", "declared"],
  ...["difference", "discard", "fault", "followedBy", "followersOf", "getConfirmed", "handle"],
  ...["hasUnsynced", "isConnected", "isEmpty", "isOutdated", "isPending", "isRenewable"],
  ...["isWaiting", "joinedAt", "keeper", "kind", "obtain", "onJoined", "onSending", "onStopped"],
  ...["prepare", "receive", "refusal", "rejoin", "removeUser", "renewInMs"],
  ...["replaceFollows", "replaceRoomState", "replica", "runtime", "schedule", "sealed", "sendAgain"],
  ...["sendAll", "setFollow", "settle", "succeed", "suspend", "takeUpdate", "urlOf"],
  ...["visible", "webSocket"],
];

/** Matches the names to shorten. */
export const INTERNAL = new RegExp(`^(${INTERNAL_NAMES.join("|")})$`);
