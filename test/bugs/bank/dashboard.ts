/** Bugs in which the dashboard misled or stopped the person who used it. */
import type { Bug } from "./bug.ts";

export const DASHBOARD: readonly Bug[] = [
  {
    story:
      "The names of menus lacked text that is seen on them, so that people who speak to their computer could not open them.",
    file: "test/browser/dashboard-access.test.ts",
    titles: ["%s passes axe, does not overflow, and shows names as text"],
  },
  {
    story: "Copying did nothing over plain HTTP, where browsers offer pages no clipboard.",
    file: "test/browser/dashboard-overview.test.ts",
    titles: ["copies where the browser offers pages no clipboard, as over plain HTTP"],
  },
  {
    story: "Deleting an organization ended on a page that said Not found.",
    file: "test/browser/dashboard-members.test.ts",
    titles: ["an organization is deleted once its name is typed, and the person can create another one"],
  },
  {
    story: "The page of a workflow that the service had disabled did not show why.",
    file: "test/browser/dashboard-workflows.test.ts",
    titles: ["says why the service has disabled one"],
  },
  {
    story: "Code that was not saved was lost when its author left the page.",
    file: "test/browser/dashboard-workflows.test.ts",
    titles: [
      "keeps code, name and events that are not saved when one leaves the page, until they are discarded",
    ],
  },
  {
    story: "A person whose entry others had changed meanwhile could only cancel, and lost what was typed.",
    file: "test/browser/dashboard-rooms.test.ts",
    titles: ["sets an entry unless it has changed meanwhile"],
  },
  {
    story: "Cursors at the edge of a room's map, and their names, were cut off.",
    file: "test/browser/dashboard-rooms.test.ts",
    titles: ["shows where participants are and what happened, and disconnects one"],
  },
  {
    story: "The overview said that no one was online when the room in use was not among the newest hundred.",
    file: "test/browser/dashboard-overview.test.ts",
    titles: [
      "names the room of someone online behind more than a hundred newer rooms, and leads to all that are online",
    ],
  },
  {
    story: "Pages loaded for ever, or showed old facts as new ones, while the service did not answer.",
    file: "test/browser/dashboard-story.test.ts",
    titles: ["one banner says so and tries again, what was shown stays, and the page recovers by itself"],
  },
];
