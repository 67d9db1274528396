/* Which errors of a cluster count as unavailable, so that requests get 503. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isAborted, isDuplicate, isUnavailable } from "../../../src/core/database/database.ts";
import { commitError } from "../../../src/core/database/lost-node.ts";

const internal = (message: string) => Object.assign(new Error(message), { code: "XX000" });

test("an internal error of a coordinator that lost a node counts as unavailable, and no other internal error does", () => {
  for (const message of [
    "failure on connection marked as essential: db2:5432",
    "failed to prepare transaction 'citus_0_123_45_0' on host db2:5432",
    "could not commit transaction for shard 102008 on at least one active node",
    "execution cannot recover from multiple connection failures. Last node failed db2:5432",
    "server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally",
    "could not receive data from server: Connection reset by peer",
    "SSL SYSCALL error: EOF detected",
    "",
  ]) {
    assert.ok(isUnavailable(internal(message)), message);
  }
  for (const message of ["tuple concurrently updated", "cache lookup failed for relation 16384"]) {
    assert.ok(!isUnavailable(internal(message)), message);
  }
  assert.ok(!isUnavailable(Object.assign(new Error(""), { code: "22023" })));
});

test("a commit that fails for an unknown reason counts as unavailable, and one that was refused keeps its reason", () => {
  const unknown = commitError(internal("out of memory in a worker"));
  assert.ok(isUnavailable(unknown));
  assert.ok(!isAborted(unknown));
  assert.ok(isAborted(commitError({ code: "40001" })));
  assert.ok(isDuplicate(commitError({ code: "23505" })));
});
