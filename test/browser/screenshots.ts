/** `npm run screenshots`: takes the pictures in docs/pictures, of a service and data that it creates itself. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { AtriumClient } from "../../src/sdk/client/index.ts";
import { ROOT } from "../node/processes.ts";
import { startService } from "../node/service.ts";
import { launchChromium } from "./chromium.ts";
import { Desk } from "./dashboard.ts";

const PICTURES = path.join(ROOT, "docs/pictures");
const ROOMS = ["Onboarding", "Roadmap", "Design critique", "Retrospective", "Weekly planning"];
const PEOPLE = ["Ada", "Bo", "Cleo"];
const TASKS = {
  "book-room": { title: "Book a room", done: true },
  "write-agenda": { title: "Write the agenda", done: false, for: "Bo" },
  "bring-tea": { title: "Bring tea", done: false, for: "Cleo" },
};

const service = await startService();
const browser = await launchChromium();
try {
  const look = { viewport: { width: 1120, height: 640 }, deviceScaleFactor: 1 };
  const desk = await Desk.signedUp(browser, service.url, { organization: "Boards" }, look);
  await desk.ask("POST", "/webhooks", { url: "http://127.0.0.1:9/", events: ["participant.joined"] });
  let roomId = "";
  for (const name of ROOMS) {
    const { room } = await desk.ask<{ room: { id: string } }>("POST", "/rooms", { name });
    roomId = room.id;
  }
  const clients: AtriumClient[] = [];
  for (const name of PEOPLE) {
    const { token } = await desk.ask<{ token: string }>("POST", "/users", { name, roomId });
    const client = new AtriumClient({ serverUrl: service.url, authToken: token });
    await client.join();
    clients.push(client);
  }
  for (const [key, task] of Object.entries(TASKS)) await clients[0]?.store("tasks").set(key, task);

  await mkdir(PICTURES, { recursive: true });
  const take = (name: string) => desk.page.screenshot({ path: path.join(PICTURES, `${name}.png`) });
  await desk.enter();
  await desk.row("Weekly planning").getByText("3").waitFor();
  await desk.page.locator(".figures > div", { hasText: "Participants online" }).getByText("3").waitFor();
  await take("overview");
  await desk.page.emulateMedia({ colorScheme: "dark" });
  await desk.enter(`/rooms/${roomId}/stores`);
  await desk.row("bring-tea").waitFor();
  await desk.page.getByText("3 online").waitFor();
  await take("stores");
  for (const client of clients) client.disconnect();
} finally {
  await browser.close();
  await service.kill();
}
