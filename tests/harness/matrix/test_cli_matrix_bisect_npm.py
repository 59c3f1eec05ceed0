"""`loopcheck matrix --bisect` over releases of npm, from a registry on this machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import matrix_project
import npm_registry
import pytest
from npm_registry import Registry

from loopcheck.harness.cli import main
from loopcheck.harness.matrix import releases
from loopcheck.harness.matrix.errors import MatrixError
from loopcheck.harness.matrix.ranges import parse

PACKAGE = Path(__file__).parents[3] / "workers" / "node" / "index.js"
GOOD = "export const parse = JSON.parse;\n"
CARELESS = 'export const parse = (text) => JSON.parse(text.endsWith("}") ? text : text + "}");\n'
RELEASES = {
    "1.0.0": GOOD,
    "1.1.0": GOOD,
    "1.2.0-rc.1": CARELESS,
    "1.2.0": CARELESS,
    "1.10.0": CARELESS,
    "2.0.0": CARELESS,
}
TARGET = """
import { parse } from "gradual";
import { ended, serve } from "PACKAGE";

serve({ name: "plain", dialects: ["chat"], modes: ["whole"] }, async (task) => {
  const messages = [{ role: "user", content: task.prompt }];
  const tools = task.tools.map(({ name, parameters }) => (
    { type: "function", function: { name, parameters } }));
  for (;;) {
    const answer = await fetch(`${task.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${task.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: task.model, messages, tools }),
    });
    const { message } = (await answer.json()).choices[0];
    if (!message.tool_calls) return message.content;
    messages.push(message);
    for (const call of message.tool_calls) {
      let args;
      try {
        args = parse(call.function.arguments);
      } catch (error) {
        return ended("failed", "the arguments were cut");
      }
      const tool = task.tools.find((one) => one.name === call.function.name);
      const content = await tool.call(args, { callId: call.id });
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
});
"""
MATRIX = """\
format: 1
scenarios: [cut.yaml]
targets:
  - {name: plain, path: service, worker: [node, target.mjs]}
  - {name: other, path: other, worker: [node, target.mjs]}
sets:
  now: locked
  next: {npm: ["gradual@2.0.0"]}
only_present: true
"""


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    for program in ("npm", "node"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}, and it is not here")
    if not PACKAGE.is_file():
        pytest.skip("the tests run outside a checkout, without workers/node")
    with npm_registry.serving("gradual", RELEASES) as found:
        monkeypatch.setenv("npm_config_registry", found.url)
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
        monkeypatch.setenv("npm_config_update_notifier", "false")
        yield found


@pytest.fixture
def project(tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the matrix, which is the current one: a service that has the package locked,
    and one that has it not."""
    for name, packages in (("service", {"gradual": "^1.0.0"}), ("other", {})):
        folder = tmp_path / name
        folder.mkdir()
        manifest = {"name": name, "version": "1.0.0", "dependencies": packages}
        held: dict[str, object] = {"": manifest}
        held |= {f"node_modules/{package}": registry.locked("1.0.0") for package in packages}
        lock = {"name": name, "version": "1.0.0", "lockfileVersion": 3, "packages": held}
        (folder / "package.json").write_text(json.dumps(manifest))
        (folder / "package-lock.json").write_text(json.dumps(lock))
        (folder / "target.mjs").write_text(TARGET.replace("PACKAGE", PACKAGE.as_uri()))
    (tmp_path / "cut.yaml").write_text(matrix_project.SCENARIO)
    (tmp_path / "loopcheck-matrix.yaml").write_text(MATRIX)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_releases_that_npm_lists(tmp_path: Path, registry: Registry) -> None:
    def between(text: str) -> tuple[str, ...]:
        return releases.of_npm(parse(text), tmp_path)

    assert between("gradual@1.0.0..2.0.0") == ("1.0.0", "1.1.0", "1.2.0", "1.10.0", "2.0.0")
    assert between("npm:gradual@1.2.0-rc.1..1.10.0") == ("1.2.0-rc.1", "1.2.0", "1.10.0")
    message = "gradual 3.0.0 is not to be had; choose two .* has; the newest is 2.0.0"
    with pytest.raises(MatrixError, match=message):
        between("gradual@1.0.0..3.0.0")
    with pytest.raises(MatrixError, match=r"--bisect npm:nobody@1\.0\.0\.\.3\.0\.0: .*404"):
        between("nobody@1.0.0..3.0.0")


@pytest.mark.slow
def test_the_first_release_of_npm_that_is_worse(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ["--bisect", "gradual@1.0.0..1.10.0", "--jobs", "1"]
    assert main(["matrix", *wanted, "--report", "json:found.json"]) == 1
    told = capsys.readouterr()
    assert told.err == "loopcheck: without gradual, and left out: other\n"
    assert (
        "plain: gradual 1.2.0 is the first release that is worse; 1.1.0 is the last good one "
        "before it\n       1 case regressed there, and nothing else by 1.10.0\n"
        "       4 of 4 releases tried\n"
    ) in told.out
    found = json.loads(Path("found.json").read_text())
    packages = [cell["packages"]["gradual"] for cell in found["cells"]]
    assert packages == ["1.0.0", "1.1.0", "1.2.0", "1.10.0"]
