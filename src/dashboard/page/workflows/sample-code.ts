/** What a new workflow begins with. */
export const SAMPLE_CODE = `// Runs when one of the chosen events happens. What it returns is kept with the run.
export default async function (event, { store, room, files }) {
  const users = await room.getUsers();
  const online = users.filter((user) => user.status === "online");
  console.log(event.event, "in", event.room.name);
  return { online: online.map((user) => user.name) };
}
`;
