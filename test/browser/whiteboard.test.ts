/** The example `examples/whiteboard` as two people use it in two browsers: what each of them sees always equals the store. */
import type { AddressInfo } from "node:net";
import type { Browser, Page, WebSocketRoute } from "playwright-core";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Camera } from "../../examples/whiteboard/page/camera.ts";
import type { Client, Mirror } from "../../examples/whiteboard/page/mirror.ts";
import type { Shape } from "../../examples/whiteboard/page/shapes.ts";
import { startWhiteboard } from "../../examples/whiteboard/server.ts";
import { AtriumServer } from "../../src/sdk/server/index.ts";
import { eventually } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { launchChromium } from "./chromium.ts";

declare global {
  interface Window {
    whiteboard: { client: Client; mirror: Mirror; camera: Camera };
  }
}

/** A picture of one pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Ada's and Bo's. */
let room: string;
let ada: Person;
let bo: Person;

const service = await sharedService();
const { url: serverUrl, accountId, apiKey } = service;
const server = await startWhiteboard({ serverUrl, accountId, apiKey, port: 0 });
const browsers = [await launchChromium(), await launchChromium()] as const;

afterAll(async () => {
  for (const browser of browsers) await browser.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  room = crypto.randomUUID();
  [ada, bo] = await Promise.all([Person.open("Ada", browsers[0]), Person.open("Bo", browsers[1])]);
});
afterEach(() => Promise.all([ada?.close(), bo?.close()]));

/** A window with the board. */
class Person {
  readonly page: Page;
  readonly #sockets = new Set<WebSocketRoute>();
  #isOffline = false;

  private constructor(page: Page) {
    this.page = page;
  }

  static async open(name: string, browser: Browser): Promise<Person> {
    const context = await browser.newContext({ viewport: { width: 1000, height: 700 } });
    const person = new Person(await context.newPage());
    await person.page.routeWebSocket(/\/socket(\?|$)/, (socket) => person.#connect(socket));
    await person.page.goto(
      `http://localhost:${(server.address() as AddressInfo).port}/?room=${room}&name=${name}`,
    );
    await person.page.waitForFunction(() => window.whiteboard !== undefined);
    return person;
  }

  #connect(socket: WebSocketRoute): void {
    if (this.#isOffline) return void socket.close({ code: 1001 });
    socket.connectToServer();
    this.#sockets.add(socket);
  }

  /** Cuts the connection, and every attempt to restore it. */
  async goOffline(): Promise<void> {
    this.#isOffline = true;
    for (const socket of this.#sockets) await socket.close({ code: 1001 });
    this.#sockets.clear();
    await this.page.getByText("Offline").waitFor();
  }

  /** Reloads the page, which must not need a connection. */
  async reload(): Promise<void> {
    await this.page.reload();
    await this.page.waitForFunction(() => window.whiteboard !== undefined);
  }

  async goOnline(): Promise<void> {
    this.#isOffline = false;
    await this.page.waitForFunction(() => window.whiteboard.client.socket.state === "connected");
  }

  async choose(tool: "Select" | "Draw" | "Box" | "Pan"): Promise<void> {
    await this.page.getByText(tool, { exact: true }).click();
  }

  /** Drags the pointer in this many steps. */
  async drag(from: readonly [number, number], to: readonly [number, number], steps = 10): Promise<void> {
    await this.page.mouse.move(...from);
    await this.page.mouse.down();
    await this.page.mouse.move(...to, { steps });
    await this.page.mouse.up();
  }

  shapes(): Promise<[string, Shape][]> {
    return this.page.evaluate(() =>
      [...window.whiteboard.mirror.shapes].sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  }

  /** Whether the board's own model equals the store as the SDK has it. */
  isConsistent(): Promise<boolean> {
    return this.page.evaluate(() => {
      const { client, mirror } = window.whiteboard;
      const stored = client.stores.shapes.getAll();
      const geometry = ({ x, y, width, height, points }: Shape) =>
        JSON.stringify([x, y, width, height, points]);
      return (
        Object.keys(stored).length === mirror.shapes.size &&
        [...mirror.shapes].every(
          ([id, shape]) => geometry(shape) === geometry(stored[id] as unknown as Shape),
        )
      );
    });
  }

  saved(): Promise<void> {
    return this.page.evaluate(() => window.whiteboard.client.flush({ timeoutMs: 60_000 }));
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}

/** Waits until both see the same `count` shapes, as the store has them. */
async function expectSame(count: number): Promise<void> {
  await ada.saved();
  await bo.saved();
  await eventually(`both see ${count} shapes`, async () => {
    const [hers, his] = [await ada.shapes(), await bo.shapes()];
    return hers.length === count && JSON.stringify(hers) === JSON.stringify(his);
  });
  expect(await ada.isConsistent()).toBe(true);
  expect(await bo.isConsistent()).toBe(true);
}

describe("the whiteboard", () => {
  it("shows a stroke to the other while it is drawn, and undoes it as one step", async () => {
    await ada.page.mouse.move(100, 100);
    await ada.page.mouse.down();
    await ada.page.mouse.move(300, 250, { steps: 60 });
    await eventually("Bo sees it before it is finished", async () => (await bo.shapes()).length === 1);
    await ada.page.mouse.move(400, 100, { steps: 60 });
    await ada.page.mouse.up();
    await expectSame(1);
    await bo.choose("Box");
    await bo.drag([500, 300], [600, 400]);
    await expectSame(2);
    await ada.page.getByRole("button", { name: "Undo" }).click();
    await expectSame(1);
    await ada.page.keyboard.press("Control+Shift+Z");
    await expectSame(2);
  });

  it("resizes two hundred shapes by one gesture, which one undo takes back", async () => {
    await ada.page.evaluate(() => {
      const { mirror } = window.whiteboard;
      for (let index = 0; index < 200; index++) {
        const [x, y] = [100 + 15 * (index % 20), 100 + 15 * Math.floor(index / 20)];
        const box = {
          kind: "box",
          x,
          y,
          width: 10,
          height: 10,
          color: "#1f2937",
          points: [],
          file: "",
        } as const;
        mirror.put(mirror.newId(), box);
      }
    });
    await expectSame(200);
    const before = await bo.shapes();
    await ada.choose("Select");
    await ada.drag([60, 80], [600, 500]);
    await ada.drag([395, 245], [690, 390], 40);
    await expectSame(200);
    const widths = new Set((await bo.shapes()).map(([, { width }]) => Math.round(width)));
    expect(widths).toEqual(new Set([20]));
    await ada.page.getByRole("button", { name: "Undo" }).click();
    await expectSame(200);
    expect(await bo.shapes()).toEqual(before);
  });

  it("uploads a picture, which the other sees", async () => {
    await ada.page
      .locator("#picture")
      .setInputFiles({ name: "pixel.png", mimeType: "image/png", buffer: PIXEL });
    await eventually("Bo has the picture", async () => (await bo.shapes()).length === 1);
    await expectSame(1);
    const [picture] = await bo.shapes();
    expect(picture?.[1]).toMatchObject({ kind: "picture", width: 1, height: 1 });
    const loaded = await bo.page.evaluate(async (file) => {
      const response = await fetch(window.whiteboard.client.storage.getUrl({ key: file }));
      return response.headers.get("Content-Type");
    }, picture?.[1].file ?? "");
    expect(loaded).toBe("image/png");
  });

  it("follows another person's view until one moves oneself", async () => {
    // Bo's pointer moves while Ada presses the button.
    await ada.page.getByRole("button", { name: "Bo" }).hover();
    await ada.page.mouse.down();
    await bo.page.mouse.move(321, 234);
    await ada.page.waitForFunction(
      () => document.querySelector<HTMLElement>(".cursor")?.style.transform === "translate(321px, 234px)",
    );
    await ada.page.mouse.up();
    await ada.page.getByRole("button", { name: "Following Bo" }).waitFor();
    await bo.choose("Pan");
    await bo.drag([500, 500], [200, 100]);
    const view = await bo.page.evaluate(() => window.whiteboard.camera.view);
    expect(view).toEqual({ x: 300, y: 400, zoom: 1 });
    await ada.page.waitForFunction(({ x, y }) => {
      const { view } = window.whiteboard.camera;
      return view.x === x && view.y === y;
    }, view);
    await ada.page.mouse.move(500, 300);
    await ada.page.mouse.wheel(0, 120);
    await ada.page.getByRole("button", { name: "Bo", exact: true }).waitFor();
  });

  it("merges what both did while one of them was offline", async () => {
    await ada.choose("Box");
    await ada.drag([100, 100], [200, 200]);
    await expectSame(1);
    await ada.goOffline();
    await ada.drag([300, 100], [400, 200]);
    await bo.choose("Box");
    await bo.drag([100, 300], [200, 400]);
    await eventually("Bo has two", async () => (await bo.shapes()).length === 2);
    expect(await ada.shapes()).toHaveLength(2);
    await ada.goOnline();
    await expectSame(3);
  });

  it("shows the board after a reload without a connection, and sends what was drawn before", async () => {
    await bo.choose("Box");
    await bo.drag([100, 100], [200, 200]);
    await expectSame(1);
    await ada.goOffline();
    await ada.drag([300, 100], [400, 200]);
    const drawn = await ada.shapes();
    await ada.reload();
    expect(await ada.shapes()).toEqual(drawn);
    expect(await ada.isConsistent()).toBe(true);
    await bo.drag([100, 300], [200, 400]);
    await ada.goOnline();
    await expectSame(3);
  });

  it("keeps the last stroke of a window that is closed at once", async () => {
    await ada.drag([100, 100], [400, 300], 30);
    const drawn = await ada.shapes();
    await ada.page.close({ runBeforeUnload: false });
    await eventually(
      "Bo has the whole stroke",
      async () => JSON.stringify(await bo.shapes()) === JSON.stringify(drawn),
    );
    const { url: serverUrl, accountId, apiKey } = service;
    const atrium = new AtriumServer({ serverUrl, accountId, apiKey });
    const { room: stored } = await atrium.rooms.getByCustomId(room);
    expect(Object.keys((await atrium.stores.getAll(stored.id, "shapes")).entries)).toEqual(
      drawn.map(([id]) => id),
    );
  });
});
