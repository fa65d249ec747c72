/** `useStream` in a real browser, with each React, in strict mode. */

import { AtriumServer, type RoomStream } from "atrium/server";
import type { StreamView } from "atrium/streams/react";
import { beforeAll, describe, expect, it } from "vitest";
import { bundlePage, prepareReactPages, type ReactPage } from "../react-page.ts";
import { REACT_VERSIONS } from "../react-versions.ts";
import type {} from "./streams-page.tsx";

const openPage = await prepareReactPages();

describe.each(REACT_VERSIONS)("with React %i", (version) => {
  let script: string;
  let opened: ReactPage;
  /** The requests of reads so far, by their kind. */
  let reads: string[];

  beforeAll(async () => {
    script = await bundlePage("react/streams-page.tsx", version);
  });

  async function begin(): Promise<(name: string) => Promise<RoomStream>> {
    opened = await openPage(script);
    const requests: string[] = [];
    reads = requests;
    opened.page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (/\/streams\/[^/]+$/.test(pathname) && request.method() === "GET")
        requests.push(searchParams.get("live") ?? "catch-up");
    });
    const { customer, roomId } = opened.meeting;
    const atrium = new AtriumServer({ serverUrl: customer.service.url, ...customer.organization });
    return (name) => atrium.stream(roomId, name);
  }

  const mount = (...names: string[]) =>
    opened.page.evaluate(([token, given]) => window.streams.mount(token, given), [
      opened.ada.token,
      names,
    ] as const);

  const shows = async (isSo: (views: readonly StreamView[]) => boolean): Promise<void> => {
    await opened.page.waitForFunction(`(${isSo})(window.streams.views)`);
  };

  it("components share one read of a text that grows, and see its end", async () => {
    const open = await begin();
    const answer = await open("answer");
    await answer.create();
    await mount("answer", "answer", "answer");
    await shows(
      (views) => views.length === 3 && views.every(({ isLoading, text }) => !isLoading && text === ""),
    );
    const writer = answer.writer();
    await writer.write("Hello");
    await shows((views) => views.every(({ text, isClosed }) => text === "Hello" && !isClosed));
    await writer.close(" 🚀");
    await shows((views) => views.every(({ text, isClosed }) => text === "Hello 🚀" && isClosed));
    expect(reads.filter((live) => live === "sse").length).toBeLessThan(3);
    expect(opened.complaints).toEqual([]);
  });

  it("messages of JSON appear once, also when the components come and go", async () => {
    const open = await begin();
    const log = await open("log");
    await log.create({ contentType: "application/json" });
    await log.append({ line: 1 });
    await mount("log");
    await shows(([view]) => JSON.stringify(view?.messages) === '[{"line":1}]');
    await mount();
    await opened.page.evaluate(() => window.streams.stream("log").append({ line: 2 }));
    await log.append({ line: 3 });
    await mount("log");
    await shows(([view]) => JSON.stringify(view?.messages) === '[{"line":1},{"line":2},{"line":3}]');
    expect(opened.complaints).toEqual([]);
  });

  it("a room that is entered by its custom ID shows them once it is joined", async () => {
    const open = await begin();
    const { customer, roomId } = opened.meeting;
    const customId = `plan-${roomId}`;
    await customer.send("PATCH", `/rooms/${roomId}`, { customId });
    const { data } = await customer.send<{ identity: { id: string }; token: string }>("POST", "/identify", {
      ...{ customId: "ada", name: "Ada" },
    });
    await customer.send("PUT", `/rooms/${roomId}/access`, {
      identitiesAccesses: { [data.identity.id]: ["*:read"] },
    });
    const answer = await open("answer");
    await answer.create();
    await answer.append("Hello");
    const given = [data.token, customId] as const;
    await opened.page.evaluate(([token, room]) => window.streams.mount(token, ["answer"], room), given);
    await shows(([view]) => view?.text === "Hello" && !view.isLoading && view.error === null);
    expect(opened.complaints).toEqual([]);
  });

  it("retry() reads again after an error, and a deleted stream from its beginning", async () => {
    const open = await begin();
    const answer = await open("answer");
    await mount("answer");
    await shows(([view]) => view?.error?.code === "NOT_FOUND" && !view.isLoading);
    await answer.create();
    await answer.append("first");
    await opened.page.evaluate(() => window.streams.views[0]?.retry());
    await shows(([view]) => view?.text === "first" && view.error === null && !view.isLoading);
    await answer.delete();
    await shows(([view]) => view?.error !== null && view?.text === "first");
    await answer.create();
    await answer.append("other");
    await opened.page.evaluate(() => window.streams.views[0]?.retry());
    await shows(([view]) => view?.text === "other" && view.error === null);
    await opened.page.evaluate(() => window.streams.unmount());
  });
});
