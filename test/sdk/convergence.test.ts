/** Clients converge, and so do the copies that applications keep, whatever breaks. */
import { beforeAll, describe, inject, it } from "vitest";
import { type SharedService, useSharedService } from "../cli/shared-service.ts";
import { converge } from "./convergence.ts";

const { seed, clients } = inject("endurance");

let service: SharedService;
beforeAll(async () => {
  service = await useSharedService();
});

describe("users who write over networks that break", () => {
  it.each(Array.from({ length: clients }, (_, run) => seed + run))(
    "converge on one state that contains each acknowledged write once (seed %i)",
    (each) => converge(service, each),
  );
});
