/** Loaded before each command by `node --import`. Plain JavaScript: an older Node.js cannot load the TypeScript files. */
const OLDEST = [22, 18];

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  console.error(`Atrium needs Node.js ${OLDEST.join(".")} or newer; this is ${process.versions.node}.`);
  process.exit(1);
}
