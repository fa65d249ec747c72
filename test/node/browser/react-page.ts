/** Pages with components under test: bundled with either version of React, and opened by a user of a new room. */
import path from "node:path";
import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import type { AtriumClient } from "atrium/client";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterEach } from "vitest";
import { type SharedService, sharedService } from "../cli/shared-service.ts";
import { join, type Meeting, meet } from "../sdk/clients.ts";
import { openBrowser } from "./browser.ts";
import { complaintsOf } from "./chromium.ts";
import { ALIASES, type ReactVersion } from "./react-versions.ts";

/** Opens a page with this script for the current test, and closes it afterwards. */
export type OpenPage = (script: string) => Promise<ReactPage>;

/** One browser for the tests of a file, against the shared service. */
export async function prepareReactPages(): Promise<OpenPage> {
  const service = await sharedService();
  const browser = await openBrowser();
  let opened: ReactPage | undefined;
  afterEach(() => opened?.page.close());
  return async (script) => {
    opened = await openPage(browser, service, script);
    return opened;
  };
}

/** The script of a page below this folder, with React's development build, which warns about mistakes. */
export async function bundlePage(file: string, version: ReactVersion): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: path.join(import.meta.dirname, "../../.."),
    entryPoints: [path.join(import.meta.dirname, file)],
    bundle: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    jsxDev: true,
    alias: ALIASES[version],
    define: { "process.env.NODE_ENV": '"development"' },
  });
  return outputFiles[0]?.text ?? "";
}

export interface ReactPage {
  readonly page: Page;
  readonly meeting: Meeting;
  /** The page's user. */
  readonly ada: UserWithToken;
  /** A client in Node.js, who is online. */
  readonly bo: AtriumClient;
  /** The errors and warnings in the page's console. */
  readonly complaints: readonly string[];
  /** How many WebSockets the page has opened. */
  readonly sockets: () => number;
}

/** A new room with Bo online, and Ada's page with nothing mounted yet. */
async function openPage(browser: Browser, service: SharedService, script: string): Promise<ReactPage> {
  const meeting = await meet(service);
  const ada = await meeting.customer.createUser(meeting.roomId, "Ada");
  const bo = await join(meeting, "Bo");
  // The test evaluates strings in the page, which the demo's policy forbids.
  const page = await browser.newPage({ bypassCSP: true });
  const complaints = complaintsOf(page);
  let sockets = 0;
  page.on("websocket", () => {
    sockets += 1;
  });
  // The demo's page with another script: browsers let only pages of the service reach it here.
  await page.route("**/demo/app.js", (route) =>
    route.fulfill({ contentType: "text/javascript", body: script }),
  );
  await page.goto(`${service.url}/demo`);
  return { page, meeting, ada, bo, complaints, sockets: () => sockets };
}
