/** Bugs in which the SDK lost writes, showed wrong state or kept silent. */
import type { Bug } from "./bug.ts";

export const CLIENTS: readonly Bug[] = [
  {
    story: "After a reset a client would have hidden its user's own writes until they were answered.",
    file: "test/sdk/resets.test.ts",
    titles: ["a client shows its own unanswered writes throughout a reset (R34)"],
  },
  {
    story: "A write that was kept on the device and then refused disappeared without a word.",
    file: "test/sdk/offline.test.ts",
    titles: ["are reported in the console when the application does not listen"],
  },
  {
    story:
      "A copy of a store that followed its events differed from the store after each race of two members.",
    file: "test/sdk/mirrors.test.ts",
    titles: [
      "a copy equals its store in any order of writes, races, refusals, cuts, losses, reloads, downloads and backups (R78, R79)",
    ],
  },
  {
    story: "A component that was removed right after a write lost the write.",
    file: "test/browser/react.test.ts",
    titles: ["sends what was just written before it leaves"],
  },
  {
    story:
      "Applications with React could not let the browser ask before it closed a page with unsynced changes.",
    file: "test/browser/react.test.ts",
    titles: ["lets the browser ask before it closes a page with unsynced changes, if its option says so"],
  },
  {
    story: "Old browsers closed a tab with unsynced changes without asking.",
    file: "test/sdk/write-queue.test.ts",
    titles: ["asks first, in the way of old browsers too, if it should"],
  },
  {
    story:
      "A client whose connection had failed for good looked saved, and asked for a join instead of saying why.",
    file: "test/sdk/stores.test.ts",
    titles: ["counts what a failure discards as unsynced until the client has joined again"],
  },
  {
    story: "Over a slow uplink each write arrived ten seconds late, behind earlier ones of the same keys.",
    file: "test/sdk/write-queue.test.ts",
    titles: ["of %i kB/s and %i ms delays the last writes by %i ms at most"],
  },
  {
    story: "A component that listed comments loaded all of them again after every short absence.",
    file: "test/sdk/react-rooms.test.ts",
    titles: ["lists comments once, page after page, and again only after an absence that was too long"],
  },
  {
    story: "A page with a document asked before it was closed although nothing had been changed.",
    file: "test/sdk/documents.test.ts",
    titles: ["opening a document, and coming back to it, counts no change that was not made (D17)"],
  },
  {
    story: "A broadcast was sent ahead of the writes of the same turn.",
    file: "test/sdk/write-queue.test.ts",
    titles: ["follows it, also in the time between two batches"],
  },
  {
    story: "A write that was being kept on the device was overtaken by a later one.",
    file: "test/sdk/offline.test.ts",
    titles: ["while it hangs does not let a later write overtake the ones that it holds up"],
  },
  {
    story:
      "A tab that had disconnected and joined again counted as ended, and others did not wait for its end before they took over its writes.",
    file: "test/sdk/offline.test.ts",
    titles: ["are continued by another tab also when their own has disconnected and joined again"],
  },
  {
    story:
      "A batch with writes of two pages that was not answered before a reload was sent again in two parts, which the room did not recognize, at every reload and over what others had written since.",
    file: "test/sdk/offline-model.test.ts",
    titles: [
      "runs once when the same tab is reloaded twice",
      "runs once when another tab has adopted the first write",
    ],
  },
  {
    story:
      "A page that was closed posted its last writes under IDs that the device did not have, and the next page sent them again.",
    file: "test/sdk/offline-model.test.ts",
    titles: ["a write of a page that is closed before its batch is kept is sent by the next page alone"],
  },
  {
    story:
      "The download of a store with large entries failed, because SQLite was to join more of them than fit into one value.",
    file: "test/room/engine/content/downloads.test.ts",
    titles: ["has large entries among many small ones, which SQLite could not join into one text (R77)"],
  },
  {
    story:
      "A client whose connection ended during a download was asked to join first instead of learning that the connection had ended.",
    file: "test/sdk/mirrors.test.ts",
    titles: ["a store whose download ends with the connection, at any moment, says so (R77)"],
  },
  {
    story: "Each join loaded every user that the room had ever had.",
    file: "test/sdk/resets.test.ts",
    titles: ["a client loads the newest users of a room with a long history, and older ones on demand (R56)"],
  },
  {
    story: "An upload whose part of the SDK could not be loaded failed with an error without a code.",
    file: "test/browser/client.test.ts",
    titles: [
      "an upload that cannot even load its part of the SDK fails as one without a network, and can be tried again",
    ],
  },
  {
    story: "DevTools left one's own writes out of the latest changes.",
    file: "test/browser/devtools.test.ts",
    titles: [
      "shows connection, latency, users with presence, and stores with their latest changes, own ones too",
    ],
  },
  {
    story: "DevTools used a color function that the oldest browsers of the guide lack.",
    file: "test/cli/package.test.ts",
    titles: ["uses nothing that the oldest supported browsers lack"],
  },
  {
    story:
      "The declarations of the package could not be read, because a description ended the comment that it stood in.",
    file: "test/cli/print-schema.test.ts",
    titles: ["a description that has the end of a comment in it ends no comment"],
  },
  {
    story: "An upload that was cancelled while it waited for its next attempt went on waiting.",
    file: "test/sdk/files.test.ts",
    titles: ["rejects an aborted upload at once, also while it waits for its next attempt"],
  },
];
