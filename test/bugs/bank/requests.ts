/** Bugs in which a request, its headers or its file had a power that it should not have. */
import type { Bug } from "./bug.ts";

export const REQUESTS: readonly Bug[] = [
  {
    story: "The Host header of a request decided where the link of an invitation led.",
    file: "test/http/public-origin.test.ts",
    titles: ["links begin with it, whatever host a request names"],
  },
  {
    story:
      "A webhook led back to the service under another of its names, because the Host header decided which name was its own.",
    file: "test/http/public-origin.test.ts",
    titles: ["cannot lead back to the service under a name of %s"],
  },
  {
    story:
      "The service on a developer's machine believed a client's own CF-Connecting-IP, so that limits by address did not hold.",
    file: "test/cli/local-surface.test.ts",
    titles: ["takes no header for a request's URL, and none for its client's address"],
  },
  {
    story: "The local explorer of wrangler answered SQL without a credential while the service ran.",
    file: "test/cli/local-surface.test.ts",
    titles: ["serves nothing of the runtime's own under /cdn-cgi/local/%s"],
  },
  {
    story: "Anonymous visitors of the demo uploaded files of 100 MiB without an end.",
    file: "test/demo/boards.test.ts",
    titles: ["each file is small", "each visitor keeps a few files, even of uploads at once"],
  },
  {
    story: "Every visitor of the demo got a token that was valid for 90 days.",
    file: "test/demo/visitors.test.ts",
    titles: ["lasts a day, and is renewed for the same user while it is valid"],
  },
  {
    story: "A storage path that was longer than R2 allows was answered with 500.",
    file: "test/files/serving.test.ts",
    titles: ["of %s returns NOT_FOUND"],
  },
  {
    story:
      "A part of a stored page would have lacked the headers that keep the whole page from running in the service's origin.",
    file: "test/files/serving.test.ts",
    titles: ["of a page is as harmless as the whole page"],
  },
  {
    story:
      "An upload that was marked for deletion while it ran would have been finished, as a file without its bytes.",
    file: "test/files/garbage-collection.test.ts",
    titles: ["an upload that was marked for deletion meanwhile cannot be finished"],
  },
  {
    story: "Two users who chose the same Idempotency-Key would have got each other's responses.",
    file: "test/files/user-token-access.test.ts",
    titles: ["uploads under an Idempotency-Key that another one uses too"],
  },
  {
    story:
      "Clients that were refused tried again at once, in step with all others, and loaded the thread that answers everyone.",
    file: "test/http/tarpit.test.ts",
    titles: [
      "20 times in ten seconds is answered at once, then later each time, up to a second",
      "with a thousand %s at once does not get all answers at the same moment",
    ],
  },
];
