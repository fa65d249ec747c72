/** Pictures of fifteen pages, each light, dark and on a phone: what a change has made of them is seen side by side. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { AtriumClient } from "atrium/client";
import { AtriumServer } from "atrium/server";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { eventually } from "../cli/processes.ts";
import type { Service } from "../cli/service.ts";
import { Desk } from "./dashboard.ts";
import { newAddress } from "./visitor.ts";

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "light", isMobile: true, hasTouch: true },
};

/** A pointer moves, or a frame loads: so long after all requests a page is what a person sees. */
const SETTLED_MS = 2_500;

const PEOPLE = ["Ada", "Bo", "Cleo"];
/** Nothing listens there. */
const FAILING = "http://127.0.0.1:9/";

/** Addresses by names; those of the dashboard are below the organization. */
type Addresses = Readonly<Record<string, string>>;

const PUBLIC_PAGES: Addresses = {
  front: "/",
  "demo-half": "/demo?name=Ada&room=half-screen",
  demo: "/demo?name=Ada&room=pictures",
  "docs-home": "/docs",
  "docs-quickstart": "/docs/quickstarts/cursors",
  "docs-guide": "/docs/guides/presence",
  "docs-operation": "/docs/reference/createRoom",
  "sign-in": "/dashboard/sign-in",
};

/** An organization in which people work, one webhook works, and one fails. */
async function furnish(desk: Desk, { url }: Service): Promise<{ addresses: Addresses; end(): void }> {
  const { key } = await desk.ask<{ key: string }>("POST", "/api-keys", { name: "Back end" });
  const atrium = new AtriumServer({ serverUrl: url, accountId: desk.accountId, apiKey: key });
  for (const name of ["Onboarding", "Roadmap", "Design critique", "Retrospective"])
    await atrium.rooms.create({ name });
  const { id: roomId } = await atrium.rooms.create({ name: "Weekly planning" });
  const { webhook } = await desk.ask<{ webhook: { id: string } }>("POST", "/webhooks", {
    url: FAILING,
    events: ["participant.joined"],
  });
  const clients: AtriumClient[] = [];
  for (const [index, name] of PEOPLE.entries()) {
    const { token } = await atrium.users.create({ roomId, name });
    const client = new AtriumClient({ serverUrl: url, authToken: token });
    await client.join();
    await client.store("tasks").set(`task-${index}`, { title: "Book a room", for: name });
    client.presence.update({ cursor: { x: 300 + 250 * index, y: 150 + 170 * index } });
    clients.push(client);
  }
  const { identity } = await atrium.identifyUser({
    customId: "ada",
    name: "Ada Example",
    email: "ada@example.com",
  });
  await atrium.updateRoomAccess(roomId, { identitiesAccesses: { [identity.id]: ["*:write"] } });
  await atrium.triggerInboxNotification({
    identityId: identity.id,
    kind: "$invoice",
    subjectId: "7",
    data: { amount: 12 },
  });
  await eventually("the webhook has failed", async () => {
    const { deliveries } = await atrium.webhooks.listDeliveries(webhook.id);
    return deliveries.some(({ attempts }) => attempts > 0);
  });
  return {
    addresses: {
      overview: "",
      rooms: "/rooms",
      room: `/rooms/${roomId}`,
      webhook: `/webhooks/${webhook.id}`,
      identity: `/people/identities/${identity.id}`,
    },
    end: () => {
      for (const client of clients) client.disconnect();
    },
  };
}

/** Takes the pictures into a folder: `NAME-LOOK.png`. */
export async function takePages(browser: Browser, service: Service, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const empty = await Desk.signedUp(browser, service.url, { organization: "New" });
  const desk = await Desk.signedUp(browser, service.url, { organization: "Boards" });
  const { addresses, end } = await furnish(desk, service);
  const session = await desk.page.context().storageState();
  for (const [look, options] of Object.entries(LOOKS)) {
    const open = async (storageState?: typeof session): Promise<Page> => {
      const extraHTTPHeaders = { "CF-Connecting-IP": newAddress() };
      return (
        await browser.newContext({ ...options, extraHTTPHeaders, ...(storageState && { storageState }) })
      ).newPage();
    };
    const take = async (page: Page, name: string, address: string): Promise<void> => {
      if (name === "demo-half" && look !== "phone") await page.setViewportSize({ width: 640, height: 800 });
      await page.goto(service.url + address);
      await page.waitForTimeout(SETTLED_MS);
      await page.screenshot({ path: path.join(folder, `${name}-${look}.png`) });
      await page.setViewportSize(options.viewport ?? { width: 1280, height: 800 });
    };
    const visitor = await open();
    for (const [name, address] of Object.entries(PUBLIC_PAGES)) await take(visitor, name, address);
    await visitor.context().close();
    const person = await open(session);
    for (const [name, address] of Object.entries(addresses))
      await take(person, name, `/dashboard/${desk.accountId}${address}`);
    await person.goto(`${service.url}/dashboard/${desk.accountId}/webhooks`);
    await person.getByRole("button", { name: "New webhook" }).first().click();
    await person.screenshot({ path: path.join(folder, `new-webhook-${look}.png`) });
    await person.context().close();
    const newcomer = await open(await empty.page.context().storageState());
    await take(newcomer, "overview-empty", `/dashboard/${empty.accountId}`);
    await newcomer.context().close();
  }
  end();
}
