"""The order of the rooms: each module sees only rooms to its left. Also sizes, docstrings and what an import loads."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import porthos
from porthos.integrate.catalogue import SCHEMES, scheme_class
from porthos.integrate.scheme import Contract

PACKAGE = Path(__file__).parents[1] / "src" / "porthos"
MODULES = sorted(PACKAGE.rglob("*.py"))
FOUNDATION = frozenset({"errors", "notation", "quantities", "startup", "steps"})

# Which rooms a room may import from, besides itself.
SEES = {
    "errors": frozenset(),
    "notation": frozenset({"errors"}),
    "quantities": frozenset({"errors"}),
    "startup": frozenset(),
    "steps": frozenset({"errors", "notation"}),
    "model": FOUNDATION,
    "kernels": FOUNDATION,
    "system": FOUNDATION | {"model", "kernels"},
    "integrate": FOUNDATION | {"kernels", "system"},
    "results": FOUNDATION | {"kernels", "system", "integrate"},
    "samples": FOUNDATION | {"model", "kernels", "system", "integrate"},
    "walking": FOUNDATION | {"system", "integrate", "results"},
    "frontdoor": FOUNDATION | {"model", "kernels", "system", "integrate", "results", "walking"},
    "resuming": FOUNDATION | {"model", "kernels", "system", "integrate", "results", "walking", "frontdoor"},
    "study": FOUNDATION | {"model", "kernels", "system", "integrate", "results", "frontdoor"},
    "show": FOUNDATION | {"results"},
    "cli": FOUNDATION
    | {"model", "kernels", "system", "integrate", "results", "frontdoor", "resuming", "study", "show"},
    "__main__": frozenset({"cli"}),
    "examples": frozenset({"", "notation", "integrate", "system"}),  # of users: the whole package, and types
}
# Doors to the right, for the comfort of users: (module, function) -> what it imports, lazily.
DOORS = {
    ("model.model", "Model.assemble"): "system",
    ("model.model", "Model.diagram"): "system",
    ("model.model", "Model.equations"): "system",
    ("results.run", "Run.plot"): "show",
    ("results.run", "Run.report"): "show",
    ("results.run", "Run.export"): "show",
    ("results.run", "Run._repr_html_"): "show",
    ("study.schemes", "SchemeStudy.plot"): "show",
    ("system.modes", "Modes.motion"): "results",
}
LONGEST_MODULE, LONGEST_FUNCTION = 400, 80


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax of a module."""
    return ast.parse(path.read_text())


def name_of(path: Path) -> str:
    """The name of a module below porthos, such as 'model.joints'."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(node: ast.AST) -> bool:
    if not isinstance(node, ast.If):
        return False
    test = node.test
    return getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING"


def imports(tree: ast.AST, module: str, scope: str = "") -> list[tuple[str, str]]:
    """(function in which it stands, imported module below porthos) of every import; '' is the root package."""
    found = []
    for node in ast.iter_child_nodes(tree):
        if is_type_checking(node):
            found += imports(ast.Module(node.orelse, []), module, scope)
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            found += [(scope, n.partition(".")[2]) for n in names if n.split(".")[0] == "porthos"]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"porthos.{module} line {node.lineno}: imports are absolute"
            root, _, rest = (node.module or "").partition(".")
            if root == "porthos":
                found += [(scope, rest or ("" if alias.name.startswith("_") else alias.name)) for alias in node.names]
        else:
            inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            below = f"{scope}.{node.name}".lstrip(".") if isinstance(node, inner) else scope
            found += imports(node, module, below)
    return found


def trespasses(tree: ast.Module, module: str) -> list[str]:
    """Imports of a module that the order of the rooms forbids."""
    room = module.split(".")[0]
    result = []
    for scope, target in imports(tree, module):
        other = target.split(".")[0]
        door = DOORS.get((module, scope)) == other
        if other != room and other not in SEES[room] and not door:
            result.append(f"porthos.{module}{' in ' + scope if scope else ''} imports porthos.{target}")
    return result


def functions(tree: ast.AST, scope: str = "") -> list[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """Functions and classes with their full names; those inside functions are left out."""
    found: list[tuple[str, ast.FunctionDef | ast.ClassDef]] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{scope}.{node.name}".lstrip(".")
            found.append((name, node))
            if isinstance(node, ast.ClassDef):
                found += functions(node, name)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            found += functions(node, scope)
    return found


def is_public(name: str) -> bool:
    return not any(part.startswith("_") for part in name.split("."))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_sees_only_rooms_to_its_left(path):
    if name_of(path):  # the root package may see all
        assert trespasses(tree_of(path), name_of(path)) == []


def test_every_room_is_known():
    assert {name_of(path).split(".")[0] for path in MODULES if name_of(path)} <= set(SEES)


@pytest.mark.parametrize(
    ("module", "source", "found"),
    [
        ("model.model", "import porthos.system.assemble", 1),
        ("model.model", "from porthos import system", 1),
        ("model.model", "class Model:\n def assemble(self):\n  from porthos.system.assemble import assemble", 0),
        ("model.model", "class Model:\n def assemble(self):\n  from porthos.integrate.march import march", 1),
        ("model.model", "class Model:\n def other(self):\n  from porthos.system.assemble import assemble", 1),
        ("model.joints", "class Model:\n def assemble(self):\n  from porthos.system.assemble import assemble", 1),
        ("model.bodies", "if True:\n from porthos.kernels.rows import dot", 1),
        ("model.bodies", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n import porthos.show.figures", 0),
        ("model.bodies", "if TYPE_CHECKING:\n pass\nelse:\n import porthos.show.figures", 1),
        ("kernels.rows", "from porthos.model.joints import Angle", 1),
        ("integrate.march", "from porthos.model.model import Model", 1),
        ("results.storage", "from porthos.system.assemble import layouts\nimport numpy, porthos.model", 1),
        ("show.figures", "from porthos.results.trajectory import Trajectory\nfrom porthos.errors import nearest", 0),
        ("show.figures", "from porthos.system.mechanical import MechanicalSystem", 1),
        ("results.storage", "from porthos import __version__", 1),
    ],
)
def test_the_rule_itself(module, source, found):
    assert len(trespasses(ast.parse(source), module)) == found


def test_doors_are_where_the_list_says():
    """A door that is no longer there does not stay on the list."""
    open_doors = {
        (name_of(path), scope, target.split(".")[0])
        for path in MODULES
        if name_of(path)
        for scope, target in imports(tree_of(path), name_of(path))
        if target.split(".")[0] not in SEES[name_of(path).split(".")[0]] | {name_of(path).split(".")[0]}
    }
    listed = {(*place, room) for place, room in DOORS.items()}
    assert open_doors == listed


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_and_functions_are_short(path):
    assert len(path.read_text().splitlines()) <= LONGEST_MODULE
    for name, node in functions(tree_of(path)):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < LONGEST_FUNCTION, name


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_public_things_are_documented_and_annotated(path):
    tree = tree_of(path)
    assert ast.get_docstring(tree), "the module has no docstring"
    for name, node in functions(tree):
        if not is_public(name):
            continue
        assert ast.get_docstring(node), f"{name} has no docstring"
        if isinstance(node, ast.FunctionDef):
            method = "." in name and "staticmethod" not in {getattr(d, "id", "") for d in node.decorator_list}
            args = [*node.args.posonlyargs, *node.args.args][1 if method else 0 :]
            extra = [a for a in (node.args.vararg, node.args.kwarg) if a is not None]
            bare = [a.arg for a in [*args, *node.args.kwonlyargs, *extra] if a.annotation is None]
            assert not bare, f"{name}: no type given for {bare}"
            assert node.returns is not None, f"{name}: no type given for what it returns"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_is_printed(path):
    calls = [node.func for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    assert not [f.lineno for f in calls if isinstance(f, ast.Name) and f.id == "print"]


def loaded(code: str, *names: str) -> list[str]:
    """Which of the packages named are loaded after `code` ran in a fresh process."""
    report = f"\nimport sys; sys.stdout.write(' '.join(n for n in {names!r} if n in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code + report], check=True, capture_output=True, text=True)
    return done.stdout.split()


HEAVY = ("numba", "scipy", "matplotlib", "xarray", "pandas", "h5netcdf", "h5py", "rich", "sympy")


def test_import_leaves_heavy_packages_alone():
    assert loaded("import porthos", "porthos", "numpy", *HEAVY) == ["porthos"]
    assert loaded("import porthos.cli.app", "porthos.cli.app", "numpy", "yaml", *HEAVY) == ["porthos.cli.app"]


def test_describing_a_model_needs_no_compiler():
    code = """
import porthos as ph
model = ph.Model("m")
model.revolute("A", model.ground, model.body("b", ph.Box(1, (1, 2, 3))), at=(1, 0, 0), axis=(0, 1, 0))
"""
    others = (*HEAVY, "yaml", "porthos.kernels", "porthos.system")
    assert loaded(code, "porthos.model.joints", *others) == ["porthos.model.joints"]


def test_public_names_are_the_same_for_people_and_type_checkers():
    """The imports that type checkers see in porthos/__init__.py, and the table from which names are loaded."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    (block,) = [node for node in tree.body if is_type_checking(node)]
    seen = {alias.asname: node.module for node in block.body for alias in node.names}
    assert seen == {name: f"porthos.{home}" for name, home in porthos._HOME.items()}
    assert list(seen) == sorted(seen, key=lambda name: seen[name])  # within a module ruff sorts them
    for name, home in seen.items():
        assert getattr(porthos, name) is getattr(sys.modules[home], name)
    assert set(seen) <= set(dir(porthos))
    assert set(porthos.__all__) == set(seen)
    with pytest.raises(AttributeError, match="no attribute 'Modle'"):
        porthos.Modle  # noqa: B018
    assert not hasattr(porthos, "nothing")
    rooms = {name_of(path).split(".")[0] for path in MODULES}
    assert not rooms & set(seen)  # importing such a module would put it in the place of the public name


def test_every_scheme_is_in_the_catalogue():
    """A scheme that is public has a name for files and the command line."""
    public = {name: getattr(porthos, name) for name in porthos._HOME}
    schemes = {n for n, value in public.items() if isinstance(value, type) and issubclass(value, Contract)}
    assert schemes == set(SCHEMES)
    assert all(scheme_class(name) is public[name] for name in SCHEMES)
