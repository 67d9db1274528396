"""Runs python-scim's scim2-tester against a Rapport server: `pip install 'scim2-tester[httpx]'`, then
`python test/scim/scim2-tester.py http://127.0.0.1:8080/scim/v2 TOKEN SERVICE_ORIGIN WORKSPACE TEAM PERMISSION_SET`,
with names that the manifest declares. It makes users, and removes them again.

The tester fills attributes with random text; an address and declared names it cannot guess.
"""

import sys
import uuid

import scim2_tester.checkers.patch_add
import scim2_tester.checkers.patch_replace
import scim2_tester.filling
from httpx import Client
from scim2_client.engines.httpx import SyncSCIMClient
from scim2_tester import check_server

# What the specification has otherwise: see docs/decisions/scim.md.
EXPECTED = ["search_with_attributes", "check_replace_attribute"]

url, token, origin, workspace, team, permission_set = sys.argv[1:]
names = {
    "appGroupName": workspace,
    "teamName": team,
    "appGroupPermissionSetName": permission_set,
}
random_value = scim2_tester.filling.generate_random_value


def value_that_can_be(context, path, mutability=None, required=None):
    if str(path).endswith("userName"):
        return f"{uuid.uuid4()}@acme.example"
    for name, declared in names.items():
        if str(path).endswith(name):
            return declared
    return random_value(context, path, mutability=mutability, required=required)


for module in (
    scim2_tester.filling,
    scim2_tester.checkers.patch_add,
    scim2_tester.checkers.patch_replace,
):
    module.generate_random_value = value_that_can_be

headers = {"Authorization": f"Bearer {token}", "X-Request-Origin": origin}
client = SyncSCIMClient(Client(base_url=url, headers=headers))
client.discover()
results = check_server(client)
failed = [result for result in results if result.status.name in ("ERROR", "CRITICAL")]
for result in failed:
    print(result.status.name, result.title, result.reason)
print(f"{len(results) - len(failed)} of {len(results)} checks pass")
sys.exit([result.title for result in failed] != EXPECTED)
