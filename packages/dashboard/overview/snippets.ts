/** The first program of an application, in each way to write it, with the keys of the person who reads it. */

import { curlOf } from "../data/curl.ts";

/** Values for the samples; null until the person has created them. */
export interface QuickstartKeys {
  readonly serverUrl: string;
  readonly accountId: string;
  readonly roomId: string | null;
  readonly userId: string | null;
  /** A user's. */
  readonly token: string | null;
  readonly apiKey: string | null;
}

export interface Snippet {
  readonly name: string;
  /** Preparations of this sample alone. */
  readonly needs: "token" | "apiKey";
  /** The language of a snippet that a compiler understands. */
  readonly language: "tsx" | "ts" | "sh";
  readonly install: string;
  readonly text: string;
}

export function snippetsOf(keys: QuickstartKeys): readonly Snippet[] {
  const { serverUrl, accountId } = keys;
  const install = `npm install ${serverUrl}/atrium.tgz`;
  const token = keys.token ?? "A_USERS_TOKEN";
  const apiKey = keys.apiKey ?? "YOUR_API_KEY";
  const account = { serverUrl, accountId, apiKey };
  const roomId = keys.roomId ?? "A_ROOM_ID";
  const userId = keys.userId ?? "A_USER_ID";
  return [
    {
      name: "React",
      needs: "token",
      language: "tsx",
      install,
      text: `import {
  RoomProvider,
  useOthers,
  useStore,
} from "atrium/react";

export const App = () => (
  <RoomProvider
    serverUrl="${serverUrl}"
    authToken="${token}"
  >
    <Tasks />
  </RoomProvider>
);

function Tasks() {
  type Task = { title: string };
  const [tasks, { set }] = useStore<Task>("tasks");
  const others = useOthers();
  return (
    <>
      <p>{others.length} others are here</p>
      <ul>
        {Object.entries(tasks).map(([key, { title }]) => (
          <li key={key}>{title}</li>
        ))}
      </ul>
      <button onClick={() => set("milk", { title: "Buy milk" })}>
        Add milk
      </button>
    </>
  );
}
`,
    },
    {
      name: "TypeScript",
      needs: "token",
      language: "ts",
      install,
      text: `import { AtriumClient } from "atrium/client";

const client = new AtriumClient({
  serverUrl: "${serverUrl}",
  authToken: "${token}",
});
await client.join();
const { currentUser, currentRoom } = client;
console.log(currentUser?.name, "joined", currentRoom?.name);

client.presence.update({ cursor: { x: 120, y: 40 } });
const tasks = client.store("tasks");
await tasks.set("milk", { title: "Buy milk" });
`,
    },
    {
      name: "curl",
      needs: "apiKey",
      language: "sh",
      install: "",
      text: `${curlOf(account, ["PUT", `/rooms/${roomId}/participants/${userId}`, { presence: { cursor: { x: 120, y: 40 } }, ttl: 60 }])}
`,
    },
    {
      name: "Server",
      needs: "apiKey",
      language: "ts",
      install,
      text: `import { AtriumServer } from "atrium/server";

const atrium = new AtriumServer({
  serverUrl: "${serverUrl}",
  accountId: "${accountId}",
  apiKey: "${apiKey}", // keep it on your server
});
const room = await atrium.rooms.create({
  name: "Weekly planning",
});
const { token } = await atrium.users.create({
  roomId: room.id,
  name: "Ada",
});
console.log("Give this token to Ada's browser:", token);
`,
    },
  ];
}
