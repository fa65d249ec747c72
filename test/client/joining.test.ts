/** Connecting and joining through the client: what is known afterwards, and what each refusal looks like. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AtriumClient, AtriumError } from "../../src/client/index.ts";
import { eventually } from "../node/processes.ts";
import { type Service, startService } from "../node/service.ts";
import { clientOf, join, meet, next, nextOf } from "./people.ts";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.kill());

describe("joining", () => {
  it("fills in the user, the room, the role, and everybody there is", async () => {
    const meeting = await meet(service);
    const bo = await meeting.customer.createUser(meeting.roomId, "Bo");
    const user = await meeting.customer.createUser(meeting.roomId, "Ada");
    const ada = clientOf(user, { serverUrl: service.url });
    expect([ada.userId, ada.currentUser, ada.currentRoom, ada.role]).toEqual([user.id, null, null, null]);
    const connected = nextOf(ada, "connected");
    await ada.connect();
    await connected;
    expect(ada.socket.state).toBe("connected");
    await ada.join({ role: "viewer" });
    expect(ada.currentUser).toMatchObject({ id: user.id, name: "Ada", status: "online", following: [] });
    expect(ada.currentRoom).toMatchObject({ id: meeting.roomId, state: "active" });
    expect(ada.role).toBe("viewer");
    expect([...ada.users.online.keys()]).toEqual([user.id]);
    expect(ada.users.get({ userId: bo.id })).toMatchObject({ name: "Bo", status: "offline" });
    expect(ada.users.getAll()).toHaveLength(2);
  });

  it("connects by itself, and is done once however often it is asked for", async () => {
    const ada = await join(await meet(service), "Ada");
    await Promise.all([ada.connect(), ada.join(), ada.join({ role: "viewer" })]);
    expect(ada.role).toBe("editor");
  });
});
