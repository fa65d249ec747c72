/** On `session.closed`: writes a file into the room that lists who took part and the tasks in the store "tasks". */
import type { Workflow } from "atrium/workflow";

interface Task {
  readonly title: string;
  readonly done: boolean;
}

const summarizeSession: Workflow<"session.closed"> = async ({ timestamp, room, users }, { store, files }) => {
  const tasks = Object.values(await store.getAll("tasks")) as Task[];
  const summary = [
    `# ${room.name}, ${timestamp.slice(0, 10)}`,
    "",
    `With ${users.map(({ name }) => name).join(", ")}.`,
    "",
    ...tasks.map(({ title, done }) => `- [${done ? "x" : " "}] ${title}`),
  ];
  const { url } = await files.put("summary.md", `${summary.join("\n")}\n`, "text/markdown");
  console.log(`${tasks.filter(({ done }) => !done).length} of ${tasks.length} tasks are open`);
  return { summary: url };
};

export default summarizeSession;
