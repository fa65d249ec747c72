/** Bugs in which people lost, doubled or could not open what they wrote together. */
import type { Bug } from "./bug.ts";

export const DOCUMENTS: readonly Bug[] = [
  {
    story:
      "Hocuspocus' client said that all was on disk while an edit was still on its way, and a tab that was closed then lost it.",
    file: "test/room/documents/document-sockets.test.ts",
    titles: [
      "Hocuspocus' client is sent as many acknowledgements as it counts, whatever had waited for its connection (D9)",
    ],
  },
  {
    story: "Someone who went on typing while a token was fetched could not connect.",
    file: "test/room/documents/document-sockets.test.ts",
    titles: [
      "what Hocuspocus' client writes while it fetches its token is stored, and acknowledged once (D9)",
    ],
  },
  {
    story:
      "A token that was refused for one document closed the socket for all others, after each reconnection again.",
    file: "test/room/documents/document-sockets.test.ts",
    titles: [
      "a token that is refused to one document keeps no other document of Hocuspocus' socket from opening (D13)",
    ],
  },
  {
    story:
      "A document was answered as authenticated before its token was verified, and the client never learned of a refusal.",
    file: "test/room/documents/document-sockets.test.ts",
    titles: [
      "on a socket that has joined, a token opens its document once it is verified, or is refused (D9, D13)",
    ],
  },
  {
    story:
      "Two people restored a version at once, and what had been deleted since stood in the document twice.",
    file: "test/room/documents/document-endpoints.test.ts",
    titles: [
      "a version is restored before the eyes of all, as an edit of the one who asks, and back again (D21)",
    ],
  },
  {
    story:
      "A document was deleted and created again while it was restored, and the old one's text stood in the new one.",
    file: "test/room/documents/document-endpoints.test.ts",
    titles: [
      "a document that replaces another one meanwhile is not compared, restored or rolled back with it (D21, D23, D25)",
    ],
  },
  {
    story: "A rollback wrote again what an undo had already brought back, and the text stood there twice.",
    file: "test/room/documents/rollback.test.ts",
    titles: ["does not write again what its author's own undo has written again since (D25)"],
  },
  {
    story: "A room that was full refused updates and never made space by joining its old history.",
    file: "test/room/documents/retention.test.ts",
    titles: [
      "a document of which an update is refused for want of space gives up what is old of its history (D2, D22)",
    ],
  },
  {
    story: "A document of which a value was replaced again and again grew until it was full.",
    file: "test/room/documents/compact-update.test.ts",
    titles: ["keeps nothing of a value that was replaced a thousand times but that it was there (D26)"],
  },
  {
    story:
      "An editor wrote a value that nested thousands of levels deep, and no one could open the document again.",
    file: "test/room/documents/update-scan.test.ts",
    titles: ["refuses %s that nests deeper than Yjs could merge it (D8)"],
  },
  {
    story: "An editor wrote an operation again in another way, and no one could open the document again.",
    file: "test/room/documents/hostile-updates.test.ts",
    titles: [
      "an operation that is written again over %s stays what it was (D1, D8)",
      "whatever an update holds, and however updates overlap: what is accepted stays readable for everyone (D3, D8)",
    ],
  },
  {
    story: "An update with its clients in another order hid what others had written from new clients.",
    file: "test/room/documents/hostile-updates.test.ts",
    titles: [
      "an update that hides what others wrote, by clients in another order than Yjs', is refused (D8)",
    ],
  },
  {
    story: "Someone closed a tab while the room hibernated, and the cursor stayed in everyone's editor.",
    file: "test/room/documents/document-sockets.test.ts",
    titles: ["a client that leaves after hibernation is gone for the others too (D12)"],
  },
  {
    story:
      "Someone nested thousands of maps in each other and deleted them, and even after folding no one could open the document.",
    file: "test/room/documents/compact-update.test.ts",
    titles: [
      "keeps nothing of deleted containers in each other, though no byte is saved: Yjs deletes them by recursion (D26)",
    ],
  },
  {
    story: "A stranger sent empty frames while a token was verified, and they took memory without an end.",
    file: "test/room/documents/early-frames.test.ts",
    titles: ["are at most 1,024 of one socket, even if they have no bytes (D14)"],
  },
  {
    story:
      "A viewer showed a state that nested thousands of levels deep, and the clients of others failed on it.",
    file: "test/room/documents/awareness.test.ts",
    titles: ["a state nests at most 40 levels deep, since others compare states by recursion (D12)"],
  },
  {
    story:
      "A viewer asked for a document of 1 MiB a hundred times a second, and the room had time for nothing else.",
    file: "test/room/documents/document-costs.test.ts",
    titles: [
      "someone who asks for a document again and again waits, and no one else does (R69, D19)",
      "a step 1 costs what has to be merged for it, and whatever a viewer says is counted for it (R69, D19)",
    ],
  },
  {
    story:
      "A state vector that named millions of invented clients took a second and a quarter of a gigabyte.",
    file: "test/room/documents/document-costs.test.ts",
    titles: ["of a state vector, only clients are kept that have written into the document (D19)"],
  },
];
