/** Compiles programs within bounds: in a process of the pool, or else in the caller's isolate. */
import type { Compilation } from "../compile/compile.ts";
import { isDisconnected, type PoolClient } from "./pool-client.ts";
import { PROCESS_SERVICE } from "./pool-protocol.ts";

export type Compiler = (accountId: string, source: string) => Promise<Compilation>;

interface CompilerProcess {
  compile(token: string, source: string): Promise<Compilation>;
}

/** The largest program that is allowed takes about a second. */
const LIMITS = { wallMs: 20_000, cpuMs: 5_000, memoryMb: 512 } as const;

const TOO_MUCH: Compilation = {
  ok: false,
  problem: { message: "The code takes too long to compile, or too much memory", line: 1, column: 1 },
};

/** Compiles in the caller's isolate. Only the compiler's own bounds end it early. */
export const compileHere: Compiler = async (_accountId, source) => {
  const { compile } = await import("../compile/compile.ts");
  return compile(source);
};

/** Compiles in a process of the pool: code that keeps the compiler busy is refused, and delays no one else. */
export const compileInPool =
  (client: PoolClient): Compiler =>
  async (accountId, source) => {
    const request = { accountId, program: `${accountId}/compile`, limits: LIMITS };
    const { value, report } = await client.use(
      request,
      PROCESS_SERVICE.compile,
      async (entrypoint, token) => {
        const compiler = entrypoint as CompilerProcess;
        const compilation = await compiler.compile(token, source).catch((error: unknown) => {
          if (isDisconnected(error)) return null;
          throw error;
        });
        return { value: compilation, isSpent: false, isLost: compilation === null };
      },
    );
    if (value !== null) return value;
    if (report.killed === null) throw new Error("The compiler gave no answer");
    return TOO_MUCH;
  };
