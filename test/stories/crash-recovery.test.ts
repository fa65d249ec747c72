/** The service is killed while users are online: nothing acknowledged is lost, and no one stays online. */
import { afterEach, expect, it } from "vitest";
import { eventually } from "../cli/processes.ts";
import { KillableService } from "../endurance/killable-service.ts";
import { Customer } from "./client.ts";

const HEALING_DEADLINE_MS = 150_000;

let service: KillableService | undefined;

afterEach(() => service?.dispose());

it("a killed room recovers on the next request, or by itself", async () => {
  service = await KillableService.prepare();
  const before = new Customer({ url: service.url }, service.organization);
  const [asked, unasked] = [await before.createRoom(), await before.createRoom()];
  const ada = await before.createUser(asked.id, "Ada");
  const ben = await before.createUser(unasked.id, "Ben");
  const tabs = [await before.join(ada), await before.join(ada), await before.join(ben)];
  for (const tab of tabs) expect(tab.messages[0]?.success).toBe(true);
  const copied = async (customer: Customer, roomId: string, count: number) =>
    (await customer.listedRoom(roomId))?.active_participants === count;
  await eventually(
    "the lists of rooms are up to date",
    async () => (await copied(before, asked.id, 1)) && copied(before, unasked.id, 1),
  );

  await service.kill();
  await service.start();
  const after = new Customer(service, service.organization);
  expect((await after.getRoom(asked.id)).room.active_participants).toBe(0);
  const { user, sessions } = await after.getUser(ada);
  expect(user).toMatchObject({ id: ada.id, token: ada.token, status: "offline" });
  expect(sessions).toHaveLength(1);
  expect(Date.parse(sessions[0]?.left_at ?? "")).toBeGreaterThanOrEqual(
    Date.parse(sessions[0]?.joined_at ?? ""),
  );
  const { data } = await after.send("POST", `/rooms/${asked.id}/reconcile`);
  expect(data).toMatchObject({ reconciled_active_participants: 0, room: { active_participants: 0 } });
  expect(await copied(after, asked.id, 0)).toBe(true);

  const again = await after.join(ada);
  expect(again.messages[0]).toMatchObject({ success: true, data: { user: { id: ada.id } } });
  expect((await after.getUser(ada)).sessions).toHaveLength(2);

  // No request reaches the other room: its alarm has survived the crash.
  await eventually("the other room recovers", () => copied(after, unasked.id, 0), HEALING_DEADLINE_MS);
});
