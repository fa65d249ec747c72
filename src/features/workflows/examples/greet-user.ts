/** On `user.created`: writes a welcome file into the room that names the users who are online. */
import type { Workflow } from "atrium/workflow";

const greetUser: Workflow<"user.created"> = async ({ user }, { room, files }) => {
  const online = (await room.getUsers()).filter(({ status }) => status === "online");
  const company =
    online.length === 0 ? "You are the first." : `Here now: ${online.map(({ name }) => name).join(", ")}.`;
  const { url } = await files.put(`welcome-${user.id}.txt`, `Welcome, ${user.name}! ${company}\n`);
  return { greeted: user.name, welcome: url };
};

export default greetUser;
