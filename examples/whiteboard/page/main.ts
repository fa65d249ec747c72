/** The page: connects, and wires the board's parts to each other. */
import { AtriumClient } from "atrium/client";
import { keepOffline } from "atrium/offline";
import { Camera } from "./camera.ts";
import { Gestures, type Tool } from "./gestures.ts";
import { type Client, Mirror } from "./mirror.ts";
import { Painter } from "./painter.ts";
import { People } from "./people.ts";
import { type Point, STORES } from "./shapes.ts";

interface Session {
  readonly serverUrl: string;
  readonly token: string;
}

const ZOOM_PER_PIXEL = 1.002;

/** The user of this window, whom the example's server creates; a reload keeps it. */
async function openSession(): Promise<Session> {
  const known = sessionStorage.getItem("session");
  if (known !== null) return JSON.parse(known) as Session;
  const response = await fetch(`/session${location.search}`, { method: "POST" });
  if (!response.ok) throw new Error(await response.text());
  const session = (await response.json()) as Session;
  sessionStorage.setItem("session", JSON.stringify(session));
  return session;
}

const element = <Type extends HTMLElement>(id: string): Type => document.getElementById(id) as Type;
const status = element("status");

async function start(): Promise<void> {
  const { serverUrl, token } = await openSession();
  const client = new AtriumClient({
    serverUrl,
    authToken: token,
    stores: STORES,
    offline: keepOffline({
      onRejected: ({ key, error }) => console.warn(`An earlier change of ${key} was refused:`, error),
      onError: (error) => console.warn(error),
    }),
  });
  client.join().catch(() => {}); // `failed` says why
  await client.stores.shapes.sync(); // at once if the board was open before, with or without a network

  const canvas = element<HTMLCanvasElement>("board");
  const camera = new Camera((view) => {
    people.look(view);
    people.show();
    painter.schedule();
  });
  const mirror = new Mirror(client, () => painter.schedule());
  const gestures = new Gestures(mirror, camera);
  const painter = new Painter(canvas, camera, {
    shapes: () => mirror.shapes,
    selection: () => gestures.selection,
    marquee: () => gestures.marquee,
    pictureUrl: (key) => client.storage.getUrl({ key }),
  });
  const people = new People(client, camera, element("cursors"), element("people"));

  connectPointer(canvas, camera, gestures, people, painter, client);
  connectTools(gestures, painter, client);
  connectPictures(canvas, camera, mirror, client);
  showStatus(client);
  people.look(camera.view);
  painter.schedule();
  Object.assign(window, { whiteboard: { client, mirror, camera } }); // for the console
}

function connectPointer(
  canvas: HTMLCanvasElement,
  camera: Camera,
  gestures: Gestures,
  people: People,
  painter: Painter,
  { history }: Client,
): void {
  const pointOf = ({ offsetX, offsetY }: MouseEvent): Point => ({ x: offsetX, y: offsetY });
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    history.pause(); // a gesture is one step to undo
    gestures.press(camera.toBoard(pointOf(event)));
    if (gestures.tool === "pan") people.unfollow();
    painter.schedule();
  };
  canvas.onpointermove = (event) => {
    people.point(camera.toBoard(pointOf(event)));
    gestures.move(camera.toBoard(pointOf(event)));
    painter.schedule();
  };
  canvas.onlostpointercapture = () => {
    gestures.release();
    history.resume();
    painter.schedule();
  };
  canvas.onpointerleave = () => people.point(null);
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      people.unfollow();
      if (event.ctrlKey || event.metaKey) camera.zoomAt(pointOf(event), ZOOM_PER_PIXEL ** -event.deltaY);
      else camera.pan({ x: event.deltaX, y: event.deltaY });
    },
    { passive: false },
  );
}

function connectTools(gestures: Gestures, painter: Painter, { history }: Client): void {
  for (const input of document.querySelectorAll<HTMLInputElement>("input[name=tool]"))
    input.onchange = () => {
      gestures.tool = input.value as Tool;
    };
  const color = element<HTMLInputElement>("color");
  color.oninput = () => {
    gestures.color = color.value;
  };
  const [undo, redo] = [element<HTMLButtonElement>("undo"), element<HTMLButtonElement>("redo")];
  undo.onclick = () => history.undo();
  redo.onclick = () => history.redo();
  const showHistory = () => {
    undo.disabled = !history.canUndo;
    redo.disabled = !history.canRedo;
  };
  history.on("changed", showHistory);
  showHistory();
  element("delete").onclick = () => {
    gestures.removeSelection();
    painter.schedule();
  };
  addEventListener("keydown", (event) => {
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (event.shiftKey) history.redo();
      else history.undo();
    } else if (event.key === "Delete" || event.key === "Backspace") element("delete").click();
  });
}

function connectPictures(
  canvas: HTMLCanvasElement,
  camera: Camera,
  mirror: Mirror,
  { storage }: Client,
): void {
  const add = async (file: File, at: Point) => {
    const { width, height } = await createImageBitmap(file);
    status.textContent = `Uploading ${file.name}…`;
    const { key } = await storage.upload({ file });
    status.textContent = "";
    const shape = { kind: "picture", ...at, width, height, color: "#1f2937", points: [], file: key } as const;
    mirror.put(mirror.newId(), shape);
  };
  const addAll = (files: Iterable<File>, at: Point) => {
    for (const file of files)
      add(file, at).catch((error: unknown) => {
        status.textContent = `${file.name} could not be added: ${String(error)}`;
      });
  };
  const picker = element<HTMLInputElement>("picture");
  picker.onchange = () => addAll(picker.files ?? [], camera.toBoard({ x: 80, y: 80 }));
  canvas.ondragover = (event) => event.preventDefault();
  canvas.ondrop = (event) => {
    event.preventDefault();
    addAll(event.dataTransfer?.files ?? [], camera.toBoard({ x: event.offsetX, y: event.offsetY }));
  };
}

/** Says whether the connection is lost, and whether everything is saved. */
function showStatus(client: Client): void {
  const show = () => {
    const isOffline = client.socket.state === "reconnecting";
    const saved = client.hasUnsyncedChanges ? "Saving…" : "Saved";
    status.textContent = isOffline ? "Offline. Your changes are kept and sent later." : saved;
  };
  client.socket.on("reconnecting", show);
  client.socket.on("reconnected", show);
  client.socket.on("failed", ({ error }) => {
    sessionStorage.clear();
    status.textContent = `${error.message}. Reload to join as another user.`;
  });
  client.on("unsyncedChanges", show);
  show();
}

start().catch((error: unknown) => {
  status.textContent = `The board could not be opened: ${String(error)}`;
});
