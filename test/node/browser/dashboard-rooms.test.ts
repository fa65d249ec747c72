/** Rooms in the dashboard: the list, live updates, and changes. */
import { readFile } from "node:fs/promises";
import { AtriumClient } from "atrium/client";
import { openDocument } from "atrium/documents";
import type { WebSocket } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../cli/processes.ts";
import { expectAccessible } from "./axe.ts";
import { openDesk } from "./browser.ts";
import { pressInComposition } from "./chromium.ts";

const { service, desk } = await openDesk();
const roomId = await desk.createRoom({ name: "Board" });
const { token } = await desk.ask<{ token: string }>("POST", "/users", { name: "Bo", roomId });
const bo = new AtriumClient({ serverUrl: service.url, authToken: token });
await bo.join();

afterAll(async () => {
  bo?.disconnect();
});

describe("the rooms", () => {
  beforeAll(async () => {
    for (let index = 1; index <= 30; index += 1) await desk.ask("POST", "/rooms", { name: `Room ${index}` });
    await desk.enter("/rooms");
  });

  it("are listed in pages, newest first", async () => {
    await desk.link("Room 30").waitFor();
    await desk.button("Next").click();
    await desk.link("Board").waitFor();
    await desk.page.waitForURL((url) => url.searchParams.get("page") === "2");
    await desk.page.goBack();
    await desk.link("Room 30").waitFor();
  });

  it("can be searched by name, and the URL contains the search", async () => {
    await desk.page.keyboard.press("/");
    await desk.page.keyboard.type("board");
    await desk.link("Board").waitFor();
    await desk.link("Room 30").waitFor({ state: "detached" });
    await desk.page.reload();
    await desk.row("Board").getByText("1 online").waitFor();
    await desk.page.getByLabel("Search rooms by name").fill("no such room");
    await desk.heading("No matching rooms").waitFor();
  });

  it("can be filtered by date", async () => {
    await desk.enter("/rooms?to=2001-01-01");
    await desk.heading("No matching rooms").waitFor();
    await desk.field("to").fill("2101-01-01");
    await desk.link("Room 30").waitFor();
  });

  it("have dates behind a button, and on a phone all filters, open where one is in use", async () => {
    const kinds = desk.field("Rooms to show");
    await desk.enter("/rooms");
    await desk.link("Room 30").waitFor();
    expect([await kinds.isVisible(), await desk.field("Created from").isVisible()]).toEqual([true, false]);
    await desk.page.setViewportSize({ width: 390, height: 844 });
    await desk.enter("/rooms");
    await desk.link("Room 30").waitFor();
    expect(await kinds.isVisible()).toBe(false);
    await desk.page.getByRole("button", { name: /^Account: / }).click();
    await desk.page.getByRole("menuitem", { name: "Docs" }).waitFor();
    await desk.page.keyboard.press("Escape");
    await desk.button("Filters").click();
    await kinds.selectOption("Closed");
    await desk.heading("No matching rooms").waitFor();
    await desk.page.reload();
    await desk.field("Created from").waitFor();
    await desk.page.setViewportSize({ width: 1280, height: 800 });
    await desk.enter("/rooms");
  });

  it("are sorted by a column, up, down, and back to the newest first", async () => {
    const first = () => desk.page.locator("tbody th").first();
    await desk.button("Name").click();
    await first().getByText("Board", { exact: true }).waitFor();
    await desk.button("Name").click();
    await first().getByText("Room 9", { exact: true }).waitFor();
    await desk.page
      .getByRole("columnheader", { name: "Name" })
      .and(desk.page.locator("[aria-sort=descending]"))
      .waitFor();
    await desk.button("Name").click();
    await first().getByText("Room 30", { exact: true }).waitFor();
  });

  it("can be narrowed to those with users online", async () => {
    await desk.field("Rooms to show").selectOption("With users online");
    await desk.link("Room 30").waitFor({ state: "detached" });
    await desk.field("Rooms to show").selectOption("Open");
    await desk.link("Room 30").waitFor();
  });

  it("are closed together: selected by keyboard, asked about once", async () => {
    await desk.enter("/rooms?q=Room 1");
    await desk.link("Room 18").waitFor();
    await desk.page.keyboard.press("j");
    await desk.page.keyboard.press("j");
    await desk.page.locator("tr:focus", { hasText: "Room 18" }).waitFor();
    await desk.page.keyboard.press("x");
    await desk.field("Select Room 18").focus();
    await desk.page.keyboard.press("Shift+ArrowDown");
    await desk.page.keyboard.press("Shift+ArrowDown");
    await desk.page.getByText("3 rooms selected").waitFor();
    await desk.button("Close 3 rooms").click();
    await desk.dialog().getByText("Room 18, Room 17 and Room 16").waitFor();
    await desk.dialog().getByRole("button", { name: "Close 3 rooms" }).click();
    await desk.toast("3 rooms closed").waitFor();
    await desk.row("Room 17").getByText("closed").waitFor();
    await desk.page.getByText("3 rooms selected").waitFor({ state: "detached" });
    await desk.undo("3 rooms closed");
    await desk.toast("Undone").waitFor();
    await desk.row("Room 17").getByText("closed").waitFor({ state: "detached" });
  });

  it("are deleted together: selected with the pointer, and what fails is named with its reason", async () => {
    await desk.field("Select Room 18").click();
    await desk.field("Select Room 16").click({ modifiers: ["Shift"] });
    await desk.button("Close 3 rooms").waitFor();
    await desk.button("Delete 3 rooms").click();
    const { rooms } = await desk.ask<{ rooms: { id: string }[] }>("GET", "/rooms?search=Room%2017");
    await desk.ask("DELETE", `/rooms/${rooms[0]?.id}`);
    await desk.field("Type “3 rooms” to confirm").fill("3 rooms");
    await desk.dialog().getByRole("button", { name: "Delete 3 rooms" }).click();
    await desk.heading("2 rooms deleted").waitFor();
    const failed = desk.dialog().getByRole("listitem");
    expect(await failed.allTextContents()).toEqual(["Room 17Room not found"]);
    await desk.dialog().getByRole("button", { name: "Close" }).click();
    await desk.dialog().waitFor({ state: "detached" });
    await desk.link("Room 18").waitFor({ state: "detached" });
    await desk.link("Room 19").waitFor();
    await desk.page.keyboard.press("j");
    await desk.page.keyboard.press("ArrowDown");
    await desk.page.keyboard.press("ArrowUp");
    await desk.page.locator("tr:focus", { hasText: "Room 19" }).waitFor();
    await desk.page.keyboard.press("Enter");
    await desk.heading("Room 19").waitFor();
    await desk.enter("/rooms");
  });

  it("show the service's error beside a custom ID that is taken", async () => {
    await desk.ask("POST", "/rooms", { name: "Known", customId: "known" });
    await desk.button("New room").click();
    await desk.field("Name").fill("Another");
    await desk.field("Custom ID").fill("known");
    await desk.button("Create room").click();
    await desk.dialog().locator(".field-error").getByText("already used by another room").waitFor();
    await desk.button("Cancel").click();
  });
});

describe("an open room", () => {
  const happened = (text: string) =>
    desk.page.getByRole("region", { name: "Events" }).getByRole("listitem").filter({ hasText: text });

  const watches = () => desk.page.getByText("You are not shown to the people in the room.");
  const setVisibility = (state: DocumentVisibilityState) =>
    desk.page.evaluate((value) => {
      Object.defineProperty(document, "visibilityState", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);

  it("shows a store's entries as they change, without showing the person as present", async () => {
    await bo.store("tasks").set("milk", { title: "Buy milk" });
    await desk.enter(`/rooms/${roomId}/stores`);
    await desk.row("milk").getByText("Buy milk").waitFor();
    await bo.store("tasks").update("milk", { title: "Buy oat milk" });
    await desk.row("milk").getByText("Buy oat milk").waitFor();
    expect([...bo.users.online.values()].map(({ name }) => name)).toEqual(["Bo"]);
  });

  it("sets an entry unless it has changed meanwhile", async () => {
    await desk.button("Edit milk").click();
    await bo.store("tasks").set("milk", { title: "Buy tea" });
    await desk.field("Value").fill('{"title":"Buy coffee"}');
    await desk.button("Save").click();
    await desk.dialog().getByRole("alert").getByText("Buy tea").waitFor();
    expect(await desk.field("Your value").inputValue()).toBe('{"title":"Buy coffee"}');
    await desk.button("Edit this one instead").click();
    await desk.field("Value").fill('{"title":"Buy green tea"}');
    await bo.store("tasks").set("milk", { title: "Buy tea" });
    await desk.button("Save").click();
    await desk.dialog().getByRole("alert").waitFor();
    await desk.button("Replace it with mine").click();
    await desk.dialog().waitFor({ state: "detached" });
    await desk.row("milk").getByText("Buy green tea").waitFor();
    await desk.button("New entry").click();
    await desk.field("Key").fill("bread");
    await desk.field("Value").fill("not JSON");
    await desk.button("Save").click();
    await desk.dialog().getByText("The value is not valid JSON").waitFor();
    await desk.field("Value").fill('{"title":"Buy bread"}');
    await desk.button("Save").click();
    // The toast comes with its end; the row may be here before, and the toast of the entry above still is.
    await desk.dialog().waitFor({ state: "detached" });
    await desk.row("bread").getByText("Buy bread").waitFor();
    await bo.store("tasks").sync();
    expect(bo.store("tasks").getAll()).toEqual({
      milk: { title: "Buy green tea" },
      bread: { title: "Buy bread" },
    });
    await desk.undo("Entry saved");
    await desk.row("bread").waitFor({ state: "detached" });
    await bo.store("tasks").set("bread", { title: "Buy bread" });
    await desk.button("Delete bread").click();
    await desk.row("bread").waitFor({ state: "detached" });
    await desk.undo("Entry deleted");
    await desk.row("bread").getByText("Buy bread").waitFor();
    await desk.button("Delete bread").click();
    await desk.row("bread").waitFor({ state: "detached" });
  });

  it("streams by itself, and no one sees the person who watches", async () => {
    const sockets: WebSocket[] = [];
    desk.page.on("websocket", (socket) => sockets.push(socket));
    await desk.page.reload();
    await watches().waitFor();
    await bo.store("tasks").set("eggs", { title: "Buy eggs" });
    await desk.row("eggs").waitFor();
    await bo.store("tasks").update("eggs", { count: 12 });
    await desk.row("eggs").locator(".changed", { hasText: '"count":12' }).waitFor();
    await desk.row("eggs").locator("summary").click();
    await bo.store("tasks").update("eggs", { count: 10 });
    await desk.row("eggs").locator("li .changed", { hasText: "10" }).waitFor();
    await desk.link("Live").click();
    const people = desk.page.getByRole("region", { name: "Participants" });
    bo.presence.update({ tool: "brush", isDrawing: true });
    await people.getByText("drawing · tool: brush").waitFor();
    await desk.button("JSON of Bo").click();
    await people.locator(".json-node", { hasText: "isDrawing" }).first().waitFor();
    await bo.notifications.broadcast("wave", { hand: "left" });
    const wave = happened("Bo broadcast wave");
    await wave.click();
    await wave.getByText('"left"').waitFor();
    await bo.store("tasks").update("eggs", { count: 11 });
    await happened("Bo set eggs in tasks").waitFor();
    await desk.field("Events to show").selectOption("Broadcasts");
    await happened("Bo set eggs in tasks").waitFor({ state: "detached" });
    await wave.waitFor();
    await desk.field("Events to show").selectOption("Files");
    await desk.page.getByText("Nothing like this has happened.").waitFor();
    await desk.field("Events of").selectOption("Bo");
    await desk.field("Events to show").selectOption("Broadcasts");
    await wave.waitFor();
    await desk.field("Events of").selectOption("All users");
    await desk.button("Pause").click();
    await bo.notifications.broadcast("bow", {});
    await desk.button("Resume (1 new)").click();
    await happened("Bo broadcast bow").waitFor();
    await desk.field("Events to show").selectOption("All events");
    const agenda = openDocument(bo, "agenda");
    agenda.doc.getText("default").insert(0, "Tea");
    await agenda.flush();
    await happened("The document agenda was created").waitFor();
    await people.getByText("in agenda").waitFor();
    await desk.ask("DELETE", `/rooms/${roomId}/documents/agenda`);
    await happened("The document agenda was deleted").waitFor();
    await people.getByText(/^(just joined|here for )/).waitFor();
    expect(await people.locator(".face").count()).toBe(1);
    await desk.page.getByRole("img", { name: /^[1-9]\d* events in the last 60 minutes/ }).waitFor();
    expect([...bo.users.online.values()].map(({ name }) => name)).toEqual(["Bo"]);
    const { total } = await desk.ask<{ total: number }>("GET", `/users?roomId=${roomId}`);
    expect(total).toBe(1);
    await desk.page.getByText("1 online").waitFor();
    await setVisibility("hidden");
    await eventually("no socket is left", () => sockets.every((socket) => socket.isClosed()));
    await setVisibility("visible");
    await watches().waitFor();
    expect(sockets.filter((socket) => !socket.isClosed())).toHaveLength(1);
  });

  it("shows where participants are and what happened, and disconnects one", async () => {
    const cleo = { name: "Cleo", roomId };
    const { user } = await desk.ask<{ user: { id: string } }>("POST", "/users", cleo);
    const presence = { cursor: { x: 200, y: 50 } }; // on the edge of the map
    await desk.ask("PUT", `/rooms/${roomId}/participants/${user.id}`, { presence, ttl: 600 });
    const map = desk.page.getByRole("list", { name: "Map of cursors" });
    const point = map.getByRole("listitem").filter({ hasText: "Cleo at 200, 50" });
    await point.waitFor();
    const isInside = async () => {
      const [inner, outer] = [await point.locator(".cursor-name").boundingBox(), await map.boundingBox()];
      const [right, bottom] = [(outer?.x ?? 0) + (outer?.width ?? 0), (outer?.y ?? 0) + (outer?.height ?? 0)];
      return (
        (inner?.x ?? right) + (inner?.width ?? 0) < right &&
        (inner?.y ?? bottom) + (inner?.height ?? 0) < bottom
      );
    };
    await eventually("all of Cleo's name is on the map", isInside);
    await happened("Cleo joined").waitFor();
    await desk.button("Disconnect Cleo").click();
    await desk.button("Close connections").click();
    await desk.toast("Cleo was disconnected").waitFor();
    await desk.button("Disconnect Cleo").waitFor({ state: "detached" });
    await map.waitFor({ state: "detached" });
  });

  it("is polled until the first join, which the service relays no changes before, and streams then", async () => {
    const id = await desk.createRoom({ name: "Unused" });
    await desk.enter(`/rooms/${id}`);
    await desk.page.getByText("Updates every 2 s until someone joins.").waitFor();
    await desk.ask("PATCH", `/rooms/${id}`, { state: "closed" });
    await desk.page.getByText("The room is closed.").waitFor();
    await desk.ask("PATCH", `/rooms/${id}`, { state: "active" });
    const user = { name: "Cleo", roomId: id };
    const { token: authToken } = await desk.ask<{ token: string }>("POST", "/users", user);
    await happened("Cleo was created").waitFor();
    const cleo = new AtriumClient({ serverUrl: service.url, authToken });
    await cleo.join();
    await watches().waitFor();
    cleo.disconnect();
  });

  it("shows users with their sessions", async () => {
    await desk.enter(`/rooms/${roomId}/users`);
    await desk.row("Bo").getByText("online").waitFor();
    await desk.link("Bo").click();
    await desk.page.getByRole("region", { name: "Sessions" }).getByText("online").waitFor();
    await desk.field("Name").fill("Bo the second");
    await desk.button("Save").click();
    await desk.heading("Bo the second").waitFor();
  });

  it("shows comments, which can be created, resolved and deleted", async () => {
    await bo.comments.create({ text: "Shall we begin?" });
    await desk.enter(`/rooms/${roomId}/comments`);
    await desk.page.getByText("Shall we begin?").waitFor();
    await desk.button("Resolve").click();
    await desk.page.getByText("resolved", { exact: true }).waitFor();
    await desk.undo("Comment resolved");
    await desk.page.getByText("resolved", { exact: true }).waitFor({ state: "detached" });
    await desk.button("Resolve").click();
    await desk.page.getByText("resolved", { exact: true }).waitFor();
    await desk.button("Reply to Bo the second").click();
    await desk.field("Text").fill("In five minutes");
    await desk.button("Send reply").click();
    const reply = desk.page.getByRole("listitem").filter({ hasText: "In five minutes" });
    await reply.waitFor();
    expect(await reply.getAttribute("class")).toContain("reply");
    await desk.button("New comment").click();
    await desk.field("Text").fill("We have begun");
    await desk.button("Create comment").click();
    const said = desk.page.getByRole("listitem").filter({ hasText: "We have begun" });
    await said.getByRole("button", { name: "Delete" }).click();
    await desk.button("Delete comment").click();
    await desk.toast("Comment deleted").waitFor();
    await said.waitFor({ state: "detached" });
    await desk.field("Search comments: press Enter").fill("MINUTES");
    await pressInComposition(desk.field("Search comments: press Enter"), "Enter");
    expect(new URL(desk.page.url()).search).not.toContain("MINUTES");
    await desk.page.keyboard.press("Enter");
    await desk.page.getByText("Shall we begin?").waitFor({ state: "detached" });
    await reply.waitFor();
    const { comments } = await bo.comments.list();
    const [first] = comments;
    expect(comments.map(({ text, thread_id }) => [text, thread_id])).toEqual([
      ["Shall we begin?", first?.id],
      ["In five minutes", first?.id],
    ]);
    expect(first?.resolved).toBe(true);
  });

  it("shows documents as they change, their versions, and what differs", async () => {
    const notes = openDocument(bo, "notes");
    const text = notes.doc.getText("default");
    text.insert(0, "Agenda\n");
    await notes.flush();
    await desk.link("Documents").click();
    await desk.row("notes").getByText("Bo").waitFor();
    await desk.link("notes").click();
    const shown = desk.page.getByRole("region", { name: "Text of default" });
    await shown.getByText("Agenda").waitFor();
    await desk.page.getByRole("region", { name: "Trail" }).getByText("Bo").waitFor();
    await desk.button("Name this version…").click();
    await desk.field("Name").fill("As sent");
    await desk.button("Save version").click();
    await desk.toast("Version named").waitFor();
    await desk.page.getByRole("region", { name: "List of versions" }).getByText("As sent").waitFor();
    text.insert(text.length, "Tea\n");
    await shown.getByText("Tea").waitFor();
    await desk.field("Version").focus();
    await desk.page.keyboard.press("ArrowLeft");
    await desk.page.getByRole("status").getByText("As sent", { exact: true }).waitFor();
    await shown.getByText("Tea").waitFor({ state: "detached" });
    await desk.field("Compare with").selectOption("Now");
    const difference = desk.page.getByRole("region", { name: "What changed in default" });
    await difference.locator("ins", { hasText: /Tea.*Bo/s }).waitFor();
    await desk.field("Compare with").selectOption("Nothing");
    await desk.button("Restore… As sent").click();
    await desk.button("Restore version").click();
    await desk.toast("Version restored").waitFor();
    await eventually("the editor has the version", () => text.toString() === "Agenda\n");
    text.insert(0, "Our ");
    await shown.getByText("Our Agenda").waitFor();
    const { documents } = await desk.ask<{ documents: { participant_ids: string[] }[] }>(
      "GET",
      `/rooms/${roomId}/documents`,
    );
    expect(documents.flatMap(({ participant_ids: ids }) => ids)).toEqual([bo.currentUser?.id]);
    expect(notes.awareness.getStates().size).toBe(1);
    await desk.page.getByRole("tab", { name: "Shared types" }).click();
    notes.doc.getMap("meta").set("owner", { name: "Bo" });
    await desk.page.getByRole("region", { name: "Shared types" }).getByText('{"name":"Bo"}').waitFor();
  });

  it("renames and deletes versions, and downloads and deletes documents", async () => {
    await desk.page.getByRole("region", { name: "List of versions" }).getByText("As sent").click();
    await desk.button("Rename… As sent").click();
    await desk.field("Name").fill("Final");
    await desk.button("Save").click();
    await desk.button("Delete version… Final").click();
    await desk.button("Delete version").click();
    await desk.toast("Version deleted").waitFor();
    const [download] = await Promise.all([
      desk.page.waitForEvent("download"),
      desk
        .button("Download")
        .click()
        .then(() => desk.page.getByRole("menuitem", { name: "Text" }).click()),
    ]);
    expect(download.suggestedFilename()).toBe("notes.txt");
    expect(await readFile(await download.path(), "utf8")).toBe("Our Agenda\n");
    await desk.page.getByRole("button", { name: /^Take back Bo.*'s changes…$/ }).click();
    await desk.button("Take back").click();
    await desk.toast("Changes taken back").waitFor();
    await desk.button("Delete… notes").click();
    const confirm = desk.dialog().getByRole("button", { name: "Delete document" });
    expect(await confirm.isDisabled()).toBe(true);
    await desk.field("Type “notes” to confirm").fill("notes");
    await confirm.click();
    await desk.heading("No documents yet").waitFor();
  });

  it("shows the suggestions of a document, of which parts are accepted, and the rest rejected", async () => {
    const path = `/rooms/${roomId}/documents/proposal`;
    await desk.ask("POST", `${path}/edits`, { edits: [{ at: "start", insert: "Two old words." }] });
    const edits = [
      { at: { quote: "old" }, replace: "new" },
      { at: "end", insert: " The end." },
    ];
    await desk.ask("POST", `${path}/suggestions`, { title: "Livelier", edits });
    await desk.ask("POST", `${path}/suggestions`, { title: "Wrong", edits: edits.slice(1) });
    await desk.enter(path);
    const suggestions = desk.page.getByRole("region", { name: "Suggestions" });
    await suggestions.getByText("Livelier").click();
    const change = suggestions.getByRole("checkbox", { name: "Accept The end." });
    expect(await change.isChecked()).toBe(true);
    await expectAccessible(desk.page);
    await change.uncheck();
    await desk.button("Accept selected, reject the rest").click();
    await suggestions.getByText(/^approved by /).waitFor();
    expect(await suggestions.getByText("rejected:").count()).toBe(1);
    await desk.page.getByText("Two new words.").first().waitFor();
    await suggestions.getByText("Wrong").click();
    await desk.button("Reject").click();
    await suggestions.getByText(/^rejected by /).waitFor();
    await desk.page.getByText("Two new words. The end.").waitFor({ state: "detached" });
    expect(desk.complaints).toEqual([]);
  });

  it("accepts nothing of a suggestion that changes before the reader has seen it", async () => {
    const path = `/rooms/${roomId}/documents/moving`;
    await desk.ask("POST", `${path}/edits`, { edits: [{ at: "start", insert: "Two old words." }] });
    const edits = [{ at: { quote: "old" }, replace: "new" }];
    const { suggestion } = await desk.ask<{ suggestion: { id: string } }>("POST", `${path}/suggestions`, {
      ...{ title: "Moving", edits },
    });
    const write = (insert: string) =>
      desk.ask("POST", `${path}/suggestions/${suggestion.id}/edits`, { edits: [{ at: "end", insert }] });
    await desk.enter(path);
    const suggestions = desk.page.getByRole("region", { name: "Suggestions" });
    await suggestions.getByText("Moving").click();
    await suggestions.getByRole("checkbox", { name: "Accept new" }).waitFor();
    // The page reads its list again from time to time, and must not before the click.
    const clicked = Promise.withResolvers<void>();
    const isList = /\/suggestions\?/;
    await desk.page.route(isList, async (route) => {
      await clicked.promise;
      await route.continue();
    });
    await write(" The end.");
    await desk.button("Accept").click();
    await suggestions.getByRole("alert").filter({ hasText: "has changed since you read it" }).waitFor();
    clicked.resolve();
    await desk.page.unroute(isList);
    await suggestions.getByRole("checkbox", { name: "Accept The end." }).waitFor();
    expect(await desk.button("Accept").isDisabled()).toBe(true);
    await desk.button("Choose again").click();
    await desk.button("Choose again").waitFor({ state: "detached" });
    await desk.button("Accept").click();
    await suggestions.getByText(/^approved by /).waitFor();
    await desk.page.getByText("Two new words. The end.").first().waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it("uploads dropped files, previews images, and deletes files", async () => {
    await desk.enter(`/rooms/${roomId}/files`);
    await desk.button("Choose files").waitFor();
    await desk.page.evaluate(async () => {
      const canvas = new OffscreenCanvas(30, 20);
      canvas.getContext("2d")?.fillRect(0, 0, 30, 20);
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([await canvas.convertToBlob()], "plan.png", { type: "image/png" }));
      dataTransfer.items.add(new File(["<h1>Notes</h1>"], "notes.html", { type: "text/html" }));
      const drop = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer });
      document.querySelector(".drop")?.dispatchEvent(drop);
    });
    await desk.link("Open notes.html").waitFor();
    const picture = desk.link("Open plan.png").locator("img");
    const width = () => picture.evaluate((image: HTMLImageElement) => image.naturalWidth);
    await eventually("the picture is loaded", async () => (await width()) === 30);
    expect(await desk.link("Open notes.html").locator("img").count()).toBe(0);
    await desk.button("Delete notes.html").click();
    await desk.button("Delete file").click();
    await desk.toast("File deleted").waitFor();
    await desk.link("Open notes.html").waitFor({ state: "detached" });
    const files = await bo.storage.getAll();
    expect(files.map(({ filename }) => filename)).toEqual(["plan.png"]);
  });

  it("shows the percent of an upload, which can be cancelled; the next one goes on", async () => {
    const network = await desk.page.context().newCDPSession(desk.page);
    const sendAt = (uploadThroughput: number) =>
      network.send("Network.emulateNetworkConditions", {
        ...{ offline: false, latency: 0, downloadThroughput: -1, uploadThroughput },
      });
    await sendAt(32 * 1024);
    const film = {
      name: "film.bin",
      mimeType: "application/octet-stream",
      buffer: Buffer.alloc(4 * 2 ** 20),
    };
    const text = { name: "after.txt", mimeType: "text/plain", buffer: Buffer.from("After it") };
    await desk.field("Files to upload").setInputFiles([film, text]);
    const upload = desk.page.getByRole("status").filter({ hasText: "film.bin" });
    await upload.getByText(/^[1-9]\d? %$/).waitFor();
    const share = await desk.field("Upload of film.bin").evaluate((bar: HTMLProgressElement) => bar.value);
    expect(share > 0 && share < 1).toBe(true);
    await desk.button("Cancel the upload of film.bin").click();
    await upload.waitFor({ state: "detached" });
    await sendAt(-1);
    await desk.link("Open after.txt").waitFor();
    const files = await bo.storage.getAll();
    expect(files.map(({ filename }) => filename).sort()).toEqual(["after.txt", "plan.png"]);
  });

  it("finds files by name across rooms", async () => {
    await desk.enter("/files");
    await desk.row("after.txt").getByText("Board", { exact: true }).waitFor();
    await desk.field("Search files by name").fill("PLAN");
    await desk.row("after.txt").waitFor({ state: "detached" });
    await desk.row("plan.png").getByRole("link", { name: "Board", exact: true }).click();
    await desk.link("Open plan.png").waitFor();
  });

  it("is found by anyone who searches for its users, its files or a page", async () => {
    for (const [typed, found, heading] of [
      ["second", "Bo the second User of Board", "Bo the second"],
      ["after", "after.txt File in Board", "Files"],
      ["quo", "Quotas Page", "Quotas"],
    ] as const) {
      await desk.page.keyboard.press("Control+k");
      await desk.dialog().locator("input:focus").waitFor();
      await desk.page.keyboard.type(typed);
      await desk.page.getByRole("option", { name: found }).click();
      await desk.heading(heading).waitFor();
    }
  });
});

describe("the actions of a room", () => {
  it("reconcile, edit, close and reopen it", async () => {
    await desk.enter(`/rooms/${roomId}`);
    await desk.choose("Reconcile");
    await desk.toast("No correction needed: 1 online").waitFor();
    await desk.choose("Edit…");
    await desk.field("Name").fill("Drawing board");
    await desk.button("Save").click();
    await desk.heading("Drawing board").waitFor();
    await desk.choose("Close");
    await desk.page.getByText("closed", { exact: true }).waitFor();
    await eventually("Bo is disconnected", () => bo.socket.state === "closed");
    await desk.undo("Room closed");
    await desk.page.getByText("closed", { exact: true }).waitFor({ state: "detached" });
  });

  it("delete it after a confirmation", async () => {
    await desk.choose("Delete…");
    await desk.button("Cancel").click();
    await desk.choose("Delete…");
    await desk.button("Delete room").click();
    await desk.toast("Room deleted").waitFor();
    await desk.heading("Rooms").waitFor();
    await desk.enter(`/rooms/${roomId}`);
    await desk.page.getByRole("alert").getByText("Room not found").waitFor();
  });
});
