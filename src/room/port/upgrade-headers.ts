/** The headers by which a gateway says to a room's object whom a request is from, and what it is for. */

/** How a client opens a socket for documents. */
export interface DocumentAddress {
  readonly wire: "yWebsocket" | "hocuspocus";
  /** Null when each frame names its document. */
  readonly name: string | null;
  /** Empty when the first frame has it. */
  readonly token: string;
  /** The subprotocol that the client expects the server to choose; null for none. */
  readonly protocol: string | null;
}

/** The headers that name the account, the room and the client's address of an upgrade request to a room's object. */
export const ACCOUNT_HEADER = "Atrium-Account";
export const ROOM_HEADER = "Atrium-Room";
export const ADDRESS_HEADER = "Atrium-Address";
/** Of an upgrade: its trace as JSON in ASCII. */
export const TRACE_HEADER = "Atrium-Trace";
/** Of an upgrade for documents: a {@link DocumentAddress} as JSON in ASCII. */
export const DOCUMENT_HEADER = "Atrium-Document";
/** Of the request for a part of a download: its id, URI-encoded. */
export const DOWNLOAD_HEADER = "Atrium-Download";
