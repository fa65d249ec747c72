/** Rendering begins nothing: hooks and components on a server, and their hydration under StrictMode elsewhere. */

import { openDocument, openSuggestions } from "atrium/documents";
import { stream } from "atrium/streams";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { sharedService } from "../../cli/shared-service.ts";
import { join, meet } from "../../sdk/clients.ts";
import { openBrowser } from "../browser.ts";
import { complaintsOf } from "../chromium.ts";
import { bundlePage } from "../react-page.ts";
import { REACT_VERSIONS } from "../react-versions.ts";
import type { Given } from "./pure-page.tsx";

const service = await sharedService();
const browser = await openBrowser();
let script: string;

/** A page in this place, with nothing rendered yet. */
async function open(place: {
  locale: string;
  timezoneId: string;
}): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage({ bypassCSP: true, ...place });
  const complaints = complaintsOf(page);
  await page.route("**/demo/app.js", (route) =>
    route.fulfill({ contentType: "text/javascript", body: script }),
  );
  await page.goto(`${service.url}/demo`);
  return { page, complaints };
}

const GROUP = { kind: "group", id: "team" } as const;

/** A room with a comment that mentions a group and has a picture, and an inbox with a notification. */
async function prepare(): Promise<Omit<Given, "asks">> {
  const { customer, roomId } = await meet(service);
  const bo = await join({ customer, roomId }, "Bo");
  await bo.store("notes").set("first", "from Bo");
  const { doc } = openDocument(bo, "text");
  doc.getText("text").insert(0, "Hello");
  await bo.flush();
  const suggestion = await openSuggestions(bo, "text").create();
  const answer = stream(bo, "answer");
  await answer.create();
  await answer.close("Hello from a stream");
  const { token } = await customer.createUser(roomId, "Ada");
  const { url } = await bo.storage.upload({ file: new Blob(["<svg/>"]), filename: "plan.png" });
  const text = `Hello @Team, see https://example.com\n[plan.png](${url})`;
  const comment = await bo.comments.create({ text });
  const { data } = await customer.send<{ identity: { id: string }; token: string }>("POST", "/identify", {
    ...{ customId: "ada", name: "Ada" },
  });
  const identityId = data.identity.id;
  await customer.send("PUT", `/rooms/${roomId}/access`, {
    identitiesAccesses: { [identityId]: ["*:write"] },
  });
  await customer.send("POST", "/inbox-notifications/trigger", {
    ...{ identityId, kind: "$invoice", subjectId: "invoice-7", roomId },
  });
  const inbox = await customer.send<{ notifications: Given["notification"][] }>(
    "GET",
    `/identities/${identityId}/inbox-notifications`,
  );
  const [notification] = inbox.data.notifications;
  if (notification === undefined) throw new Error("The inbox is empty");
  return {
    suggestion,
    roomId,
    token,
    identityToken: data.token,
    comment: { ...comment, mentioned: [GROUP] },
    notification,
  };
}

describe.each(REACT_VERSIONS)("with React %i", (version) => {
  beforeAll(async () => {
    script = await bundlePage("react/pure-page.tsx", version);
  });

  it.each([
    ["texts", false],
    ["functions", true],
  ])(
    "all hooks and components render on a server without an act, with tokens that are %s, and hydrate in another country",
    async (_, asks) => {
      const given: Given = { ...(await prepare()), asks };
      const server = await open({ locale: "en-US", timezoneId: "UTC" });
      const { html, begun } = await server.page.evaluate((all) => window.pure.render(all), given);
      expect(begun).toEqual([]);
      expect(html).toContain("<i>Loading</i>");
      const { page, complaints } = await open({ locale: "ja-JP", timezoneId: "Asia/Tokyo" });
      await page.evaluate(([all, rendered]) => window.pure.hydrate(all, rendered), [given, html] as const);
      await page.locator("[data-waits=true]").first().waitFor();
      await page.getByText("connected").first().waitFor();
      await page.getByText("Hello from a stream").waitFor();
      await page
        .locator("time", { hasText: /\d\/\d/ })
        .first()
        .waitFor();
      expect(
        await page.evaluate(() => [Number.parseInt(window.pure.version, 10), window.pure.recovered]),
      ).toEqual([version, []]);
      expect([...server.complaints, ...complaints]).toEqual([]);
      for (const { page: opened } of [server, { page }]) await opened.close();
    },
  );
});
