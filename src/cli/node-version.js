/** Loaded before a command by `node --import`, in plain JavaScript: an older Node cannot even read the TypeScript ones. */
const OLDEST = [22, 18];

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  console.error(`Atrium needs Node.js ${OLDEST.join(".")} or newer; this is ${process.versions.node}.`);
  process.exit(1);
}
