/** The quickstarts as their readers follow them: the files and commands of each page, in an empty folder. */
import { rm } from "node:fs/promises";
import { AtriumServer } from "atrium/server";
import { afterAll, expect, it } from "vitest";
import { findFreePort } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { readDocument } from "../docs/markdown.ts";
import { openBrowser } from "./browser.ts";
import { startModel } from "./model.ts";
import { startApp } from "./next.ts";
import {
  ask,
  askAndAccept,
  openTwo,
  PAGES,
  point,
  pointByFinger,
  startAgent,
  type Terminal,
  visit,
} from "./quickstarts.ts";
import { buildPackage, Starter } from "./starter.ts";

const service = await sharedService();
const browser = await openBrowser();
const dist = await buildPackage();

afterAll(() => rm(dist, { recursive: true, force: true }));

/** Follows a quickstart, and removes its folder. */
async function following<Result>(name: string, act: (starter: Starter) => Promise<Result>): Promise<Result> {
  const starter = await Starter.follow(name, dist, service);
  try {
    return await act(starter);
  } finally {
    await starter.remove();
  }
}

/** The lines that each terminal shows. */
const printed = (terminals: readonly Terminal[]): string[][] =>
  terminals.map(({ output }) => output.trim().split("\n"));

it.each(Object.entries(PAGES))("%s: two windows show what the other does", (name, play) =>
  following(name, async (starter) => {
    const url = await starter.start();
    const { ada, bo, complaints } = await openTwo(browser, url);
    await play(ada, bo);
    if (name.startsWith("cursors")) await pointByFinger(ada, bo);
    expect(complaints.flat()).toEqual([]);
    await Promise.all([ada.close(), bo.close()]);
  }),
);

it("cursors-next: the route gives a guest tokens of one user, so that pages outlive each of them", async () => {
  const isTested = (name: string): boolean => name !== "next" && name !== "typescript";
  const starter = await Starter.follow("cursors-next", dist, service, isTested);
  try {
    await starter.run("app/token/route.ts"); // as `next build` does, without keys
    const url = await startApp(starter, service.url);
    const { ada, bo, complaints } = await openTwo(browser, url);
    await PAGES.cursors?.(ada, bo);
    await pointByFinger(ada, bo);
    const atrium = new AtriumServer({ ...service, serverUrl: service.url });
    const { room, users } = await atrium.rooms.getByCustomId("quickstart-cursors-next");
    expect(users.map(({ name }) => name).sort()).toEqual(["Ada", "Bo"]);
    for (const { id } of users) await atrium.users.endTokens(room.id, id);
    await point(ada, bo, "Ada", 250, 120);
    await point(bo, ada, "Bo", 150, 200);
    expect((await atrium.rooms.get(room.id)).users).toHaveLength(2);
    expect(complaints.flat()).toEqual([]);
    await starter.stop();
    await starter.rewrite(".env", (text) => text.replace(/API_KEY=.*/, "API_KEY=wrong"));
    const { status } = await fetch(`${await startApp(starter, service.url)}/token`, { method: "POST" });
    expect(status).toBe(500);
    await Promise.all([ada.close(), bo.close()]);
  } finally {
    await starter.remove();
  }
});

it("server: it says which setting to change when its port is taken", () =>
  following("server", async (starter) => {
    await starter.begin(undefined, service.port);
    await starter.ends();
    expect(starter.output).toMatch(/EADDRINUSE.*: write another PORT into \.env\n$/);
  }));

it("server: the visitor's token lets it in, the webhooks arrive, also after another start, and forged ones do not", () =>
  following("server", async (starter) => {
    const port = await findFreePort();
    const url = await starter.start(undefined, port);
    const events = ["participant.joined Ada", "comment.created Shall we begin?", "participant.left Ada"];
    const [server, visitor] = printed(await visit(starter, url));
    expect([server?.slice(1), visitor]).toEqual([events, ["Ada was here"]]);
    await starter.stop();
    await starter.start(undefined, port);
    await visit(starter, url);
    const atrium = new AtriumServer({ ...service, serverUrl: service.url });
    const { webhooks } = await atrium.webhooks.list();
    expect(webhooks.map((webhook) => webhook.url)).toEqual([`${url}/webhooks`]);
    const { users } = await atrium.rooms.getByCustomId("quickstart-server");
    expect(users.map(({ name }) => name)).toEqual(["Ada"]);
    expect((await fetch(`${url}/webhooks`, { method: "POST", body: "{}" })).status).toBe(401);
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
  }));

it("agent: it answers a mention, what it suggests is accepted or rejected, and it is ended", () =>
  following("agent", async (starter) => {
    await startAgent(starter);
    const [agent, asker, decider] = printed(await askAndAccept(starter));
    expect(agent?.slice(-2)).toEqual(["The agent waits for mentions", 'Answered "Who brings tea?"']);
    expect(asker).toEqual(["Assistant: Ada brings tea.", "Assistant: I suggest it for the notes"]);
    const notes = ["We meet on Friday.", "Who brings tea?", "Ada brings tea."];
    expect(decider).toEqual([
      "Who brings tea?",
      "{ before: null, after: '\\nAda brings tea.' }",
      "The notes after accept:",
      ...notes,
    ]);
    expect(await starter.run("--env-file=agent.env", "overstep.ts")).toBe(
      "You may not do this: the permission documents:write is missing\n",
    );
    await starter.stop();

    const model = await startModel(["Cleo ", "brings ", "cake."]);
    try {
      await starter.write("model.env", `MODEL_URL=${model.url}\nMODEL=small\nMODEL_KEY=secret\n`);
      await startAgent(starter);
      const [, answered] = printed(await ask(starter));
      expect(answered?.[0]).toBe("Assistant: Cleo brings cake.");
      expect(model.requests).toEqual([
        {
          authorization: "Bearer secret",
          body: expect.objectContaining({ model: "small", messages: expect.anything() }),
        },
      ]);
      expect(await starter.run("--env-file=.env", "decide.ts")).toContain("Decide with accept or reject\n");
      const rejected = await starter.run("--env-file=.env", "decide.ts", "reject");
      expect(rejected.trim().split("\n").slice(-3)).toEqual(notes);
      expect(await starter.run("--env-file=.env", "decide.ts")).toBe("Nothing is suggested\n");
      await starter.run("--env-file=.env", "end.ts");
      await starter.ends();
      expect(starter.output).toContain("\nThe agent has ended: ");
    } finally {
      await model.stop();
    }
  }));

it("agent: a question without an agent says what to start", () =>
  following("agent", async (starter) => {
    await starter.begin(["--env-file=.env", "ask.ts"]);
    await starter.ends();
    expect(starter.output).toContain("run npm start in another terminal, and ask again");
  }));

it("agent: an answer in which it is ended is closed, and its reader goes on", () =>
  following("agent", async (starter) => {
    const model = await startModel(["Half an "], false);
    try {
      await starter.write("model.env", `MODEL_URL=${model.url}\n`);
      await startAgent(starter);
      const asking = expect(starter.run("--env-file=.env", "ask.ts")).rejects.toThrow(
        /Assistant: Half an \n[\s\S]*The agent has ended/,
      );
      const atrium = new AtriumServer({ ...service, serverUrl: service.url });
      const { room } = await atrium.rooms.getByCustomId("quickstart-agent");
      const growing = async () =>
        (await atrium.streams.list(room.id)).streams.filter(({ closed }) => !closed);
      await expect.poll(async () => (await growing()).map(({ bytes }) => bytes)).toEqual([8]);
      await starter.run("--env-file=.env", "end.ts");
      await asking;
      await starter.ends();
      expect(await growing()).toEqual([]);
    } finally {
      await model.stop();
    }
  }));

it("agent: people see in the room that its model has failed", () =>
  following("agent", async (starter) => {
    await starter.write("model.env", "MODEL_URL=http://127.0.0.1:1\n");
    await startAgent(starter);
    expect(await starter.run("--env-file=.env", "ask.ts")).toContain("Assistant: I cannot answer now\n");
  }));

it("the finished folder has the reader's keys, installs the package from the service, and runs", async () => {
  const starter = await Starter.download("server", service);
  try {
    const port = await findFreePort();
    const [, visitor] = printed(await visit(starter, await starter.start(undefined, port)));
    expect(visitor).toEqual(["Ada was here"]);
  } finally {
    await starter.remove();
  }
});

it("the pages have the commands that were run", async () => {
  for (const name of [...Object.keys(PAGES), "cursors-next", "server", "agent"]) {
    const page = await readDocument(`docs/quickstarts/${name}.md`);
    expect([name, page]).toEqual([name, expect.stringContaining("\nnpm install\nnpm start\n")]);
    expect([name, page]).toEqual([name, expect.stringContaining(`/docs/quickstarts/${name}.tgz`)]);
    expect([name, page]).toEqual([name, expect.stringContaining('"http://localhost:8787/atrium.tgz"')]);
  }
});
