"""The report in a browser: Chromium without a screen, WebGL in software. Screenshots go to build/screenshots."""

import re
import shutil
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect, sync_playwright

import porthos as ph
from porthos.cli.examples import example
from tests.rocker import rocker

BROWSERS = ("chromium", "google-chrome")
OPTIONS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
WITHOUT_WEBGL = ["--no-sandbox", "--disable-gpu", "--disable-3d-apis"]
SCREENSHOTS = Path("build") / "screenshots"
HOSTILE = "</script><img src=x onerror=\"document.title='broken'\">"
PATIENCE = 15_000  # milliseconds

# which share of the picture is drawn, and a sum that changes with any pixel; after what was asked for has been drawn
LOOK = """async () => {
  for (let k = 0; k < 2; k++) await new Promise(requestAnimationFrame);
  const canvas = document.querySelector("#picture canvas");
  const gl = canvas.getContext("webgl2");
  const [w, h] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
  const pixels = new Uint8Array(4 * w * h);
  gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  let drawn = 0, sum = 0;
  for (let k = 0; k < pixels.length; k += 4) {
    if (pixels[k + 3] > 0) drawn++;
    sum = (sum * 31 + pixels[k] + 7 * pixels[k + 1] + 13 * pixels[k + 2] + 17 * pixels[k + 3]) % 2147483647;
  }
  return [drawn / (w * h), sum];
}"""


@contextmanager
def chromium(driver, options=OPTIONS):
    found = [path for name in BROWSERS if (path := shutil.which(name))]
    assert found, "these tests need Chromium: apt-get install chromium, or `make chromium`"
    browser = driver.chromium.launch(executable_path=found[0], args=options)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def driver():
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def browser(driver):
    with chromium(driver) as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def slider_crank(folder):
    with example("slider-crank") as path:
        run = ph.simulate_file(path, {"simulation.end": "2"}, progress=False)
    return run.report(folder / "slider_crank.html", points={"end of the rod": ("rod", (0, -0.15, 0))})


@contextmanager
def opened(browser, path, **options):
    """A page with all that it complained about or asked the network for."""
    page = browser.new_page(**{"viewport": {"width": 1400, "height": 950}, **options})
    page.complaints, page.requests = [], []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.requests.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=PATIENCE)
    yield page
    assert page.complaints == []
    assert page.requests == [path.as_uri()]
    page.close()


def look(page):
    return page.evaluate(LOOK)


def clock(page):
    """The time in the bar, in the slider, and at the cursors of all plots."""
    bar = float(page.text_content("#time").removesuffix(" s").replace("\N{MINUS SIGN}", "-"))
    slider = float(page.input_value("#scrub"))
    cursors = page.eval_on_selector_all(
        ".panel svg",
        """panels => panels.map(svg => {
      const frame = svg.querySelector(".frame").getBBox(), x = Number(svg.querySelector(".cursor").getAttribute("x1"));
      return (x - frame.x) / frame.width;
    })""",
    )
    return bar, slider, cursors


def scrub(page, time):
    page.eval_on_selector("#scrub", "(e, t) => { e.value = t; e.dispatchEvent(new Event('input')); }", time)


@pytest.mark.parametrize(("width", "scheme"), [(1000, "dark"), (1400, "light"), (2200, "light")])
def test_opens_and_is_not_blank(browser, slider_crank, width, scheme):
    """No complaint, no request, a picture, and nothing wider than the window; the screenshots are for people."""
    with opened(browser, slider_crank, viewport={"width": width, "height": 950}, color_scheme=scheme) as page:
        scrub(page, 1.3)
        drawn, _ = look(page)
        assert 0.03 < drawn < 0.9
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".panel").count() == 6
        assert page.locator("#picture canvas").bounding_box()["width"] > 0.45 * width
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"slider_crank_{width}_{scheme}.png", full_page=True)


def test_play_moves_bodies(browser, slider_crank):
    with opened(browser, slider_crank) as page:
        before, start = look(page), clock(page)
        page.select_option("#speed", index=1)  # 16 s to the end, which a busy machine must not reach on the way
        page.click("#play")
        expect(page.locator("#time")).to_have_text(re.compile(r"^(0\.[1-9]|1\.)"), timeout=PATIENCE)
        page.click("#play")
        after, end = look(page), clock(page)
        assert start[0] == 0.0
        assert 0.1 < end[0] < 2.0
        assert before[1] != after[1]
        assert look(page)[1] == after[1]  # it stands still now
        assert all(cursor == pytest.approx(end[1] / 2.0, abs=1e-3) for cursor in end[2])
        page.select_option("#speed", index=8)
        page.click("#play")
        page.wait_for_selector("#play:not(.playing)", timeout=PATIENCE)
        assert clock(page)[0] == 2.0  # it stops at the end
        page.keyboard.press("ArrowLeft")  # also while the button has the focus
        assert clock(page)[0] == pytest.approx(1.99)
        page.locator("input[data-switch='grid']").click()
        page.keyboard.press("ArrowLeft")
        assert clock(page)[0] == pytest.approx(1.98)
        page.locator("input[type=range]:not(#scrub)").focus()
        page.keyboard.press("ArrowLeft")  # this one moves its own slider
        assert clock(page)[0] == pytest.approx(1.98)
        scrub(page, 0.0)
        page.select_option("#speed", index=1)  # from 1.98 s on it would have ended before one can look
        page.locator("#scrub").focus()
        page.keyboard.press("Space")
        page.wait_for_selector("#play.playing", timeout=PATIENCE)
        names = page.locator("button, select, input, canvas, .panel svg").evaluate_all(
            "all => all.map(e => e.ariaLabel || e.title || e.labels?.[0]?.textContent || e.textContent)"
        )
        assert all(name.strip() for name in names)


def test_scrub_and_click_in_a_plot_set_the_time(browser, slider_crank):
    with opened(browser, slider_crank) as page:
        scrub(page, 0.7)
        bar, _, cursors = clock(page)
        assert bar == pytest.approx(0.7)
        assert all(cursor == pytest.approx(0.35, abs=1e-3) for cursor in cursors)
        before = look(page)
        plot = page.locator(".panel svg").nth(3)
        plot.scroll_into_view_if_needed()
        frame = plot.locator(".frame").bounding_box()
        page.mouse.click(frame["x"] + 0.75 * frame["width"], frame["y"] + 0.5 * frame["height"])
        bar, slider, cursors = clock(page)
        assert bar == pytest.approx(1.5, abs=0.01)
        assert slider == pytest.approx(bar, abs=1e-3)
        assert all(cursor == pytest.approx(0.75, abs=5e-3) for cursor in cursors)
        assert look(page)[1] != before[1]


def test_pointer_reads_values(browser, slider_crank):
    """Under the pointer the legend shows the values of that time, and the clock stays where it is."""
    with opened(browser, slider_crank) as page:
        frame = page.locator(".panel svg .frame").first.bounding_box()
        reading = page.locator(".panel .entry output").nth(1)
        at_start = reading.text_content()
        page.mouse.move(frame["x"] + 0.17 * frame["width"], frame["y"] + 20)
        assert reading.text_content() != at_start
        assert page.locator(".moment").first.text_content().startswith("at 0.3")
        assert clock(page)[0] == 0.0
        page.mouse.move(5, 5)
        assert reading.text_content() == at_start


def test_menu_changes_the_quantity(browser, slider_crank):
    with opened(browser, slider_crank) as page:
        panel = page.locator(".panel").first
        before = panel.locator(".curve").first.get_attribute("d")
        panel.locator("select").select_option("joints/B.force")
        assert panel.locator(".curve").count() == 3
        assert panel.locator(".curve").first.get_attribute("d") != before
        assert "reaction force [N]" in panel.locator(".axis").all_text_contents()
        groups = panel.locator("optgroup").evaluate_all("groups => groups.map(group => group.label)")
        assert groups == ["whole system", "bodies", "joints"]


def test_switches_and_camera(browser, slider_crank):
    """Each of them changes the picture; `fit` and `3D` bring the first one back."""
    with opened(browser, slider_crank) as page:
        scrub(page, 0.3)
        seen = {"first": look(page)[1]}
        for switch in ("joints", "reactions", "grid", "end of the rod"):
            page.locator(f"input[data-switch='{switch}']").click()
            seen[switch] = look(page)[1]
        assert len(set(seen.values())) == 5
        for button in ("x", "y", "z", "3D"):
            page.get_by_role("button", name=button, exact=True).click()
            seen[button] = look(page)[1]
        assert seen["3D"] == seen["end of the rod"]
        assert len({seen[view] for view in ("x", "y", "z", "3D")}) == 4
        box = page.locator("#picture canvas").bounding_box()
        page.mouse.move(box["x"] + 200, box["y"] + 200)
        page.mouse.wheel(0, -400)
        assert look(page)[1] != seen["3D"]
        page.get_by_role("button", name="3D", exact=True).click()
        assert look(page)[1] == seen["3D"]


def test_wheels_are_seen_to_turn(browser, folder):
    """By a quarter, after which the polygon that stands for a circle looks as before: only its mark has moved."""
    model = ph.Model("wheel")
    model.body("wheel", ph.Cylinder(1.0, radius=0.5, length=0.1), angular_velocity=(0, 0, 0.5 * np.pi))
    path = ph.simulate(model, ph.MidpointGGL(), step=0.01, end=1.0).report(folder / "wheel.html")
    seen = []
    with opened(browser, path) as page:
        page.locator("input[data-switch='grid']").click()
        for time in (0.0, 1.0):
            scrub(page, time)
            look(page)
            picture = Image.open(BytesIO(page.locator("#picture canvas").screenshot())).convert("L")
            seen.append(np.asarray(picture, dtype=float))
    changed = np.abs(seen[1] - seen[0]) > 15
    assert 100 < changed.sum() < 0.01 * changed.size


def test_springs_and_dampers_move_and_can_be_hidden(browser, folder):
    with opened(browser, rocker().report(folder / "rocker.html")) as page:
        switch = page.locator("input[data-switch='springs and dampers']")
        hidden = {}
        for time in (0.0, 0.1):
            scrub(page, time)
            shown = look(page)
            page.screenshot(path=SCREENSHOTS / f"rocker_{time:g}.png")
            switch.click()
            hidden[time] = look(page)
            switch.click()
            assert look(page)[1] == shown[1] != hidden[time][1]
            assert shown[0] > hidden[time][0]
        assert hidden[0.0][1] != hidden[0.1][1]


def test_beams_bend(browser, folder):
    """A beam that the ground holds falls at its other end: what moves in the picture is the beam alone."""
    model = ph.Model("soft cantilever", gravity=(0, 0, -9.81))
    rubber = ph.RectangularSection(width=0.04, height=0.02, young=2e6, density=1100, poisson=0.45)
    model.beam("arm", rubber, (0, 0, 0), (0.6, 0, 0), a="ground", elements=12, damping=0.01)
    run = ph.simulate(model, ph.Midpoint(), step=5e-3, end=0.5, progress=False)
    with opened(browser, run.report(folder / "beam.html")) as page:
        straight = look(page)
        scrub(page, 0.25)
        bent = look(page)
        assert straight[1] != bent[1]
        assert 0.005 < bent[0] < 0.9
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / "beam.png", full_page=True)


def test_schemes_of_colour(browser, slider_crank):
    with opened(browser, slider_crank, color_scheme="light") as page:
        ground = "getComputedStyle(document.body).backgroundColor"
        light, picture = page.evaluate(ground), look(page)[1]
        page.click("#scheme")
        assert page.evaluate(ground) != light
        assert look(page)[1] != picture
        page.click("#scheme")
        assert page.evaluate(ground) == light


def test_hostile_names_are_harmless(browser, folder):
    model = ph.Model(HOSTILE, gravity=(0, 0, -9.81))
    bar = model.body(HOSTILE, ph.Box(1, (1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.revolute(HOSTILE + "hinge", model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0))
    model.load(HOSTILE + "load", bar, force=(0, 1, 0))
    path = ph.simulate(model, ph.MidpointGGL(), step=0.01, end=0.3).report(folder / "hostile.html")
    with opened(browser, path) as page:
        assert page.text_content("h1") == HOSTILE
        assert page.title() == HOSTILE
        assert page.locator("img").count() == 0
        page.locator(".panel select").first.select_option(f"bodies/{HOSTILE}.velocity")
        assert look(page)[0] > 0.03


def test_without_webgl_the_plots_work(driver, slider_crank):
    with chromium(driver, WITHOUT_WEBGL) as browser, opened(browser, slider_crank) as page:
        assert page.locator("#no-webgl").is_visible()
        assert page.locator("#picture canvas").count() == 0
        scrub(page, 1.0)
        assert all(cursor == pytest.approx(0.5, abs=1e-3) for cursor in clock(page)[2])
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / "without_webgl.png")


def test_works_inside_a_notebook(browser, folder):
    """In the frame that notebooks show."""
    model = ph.Model("bob", gravity=(0, 0, -9.81))
    model.point_mass("bob", 1.0, position=(1, 0, 0))
    model.distance("string", model.ground, "bob", point_a=(0, 0, 0), point_b=(1, 0, 0))
    run = ph.simulate(model, ph.Midpoint(), step=0.01, end=1.0)
    path = folder / "notebook.html"
    path.write_text(f"<!DOCTYPE html><meta charset=utf-8>{run._repr_html_()}", encoding="utf-8")
    page = browser.new_page(viewport={"width": 1200, "height": 950})
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready=yes]").wait_for(state="attached", timeout=PATIENCE)
    start = frame.locator("#time").text_content()
    frame.locator("#play").click()
    expect(frame.locator("#time")).not_to_have_text(start, timeout=PATIENCE)
    assert complaints == []
    page.close()


@pytest.fixture(scope="module")
def lorenz(folder):
    from gallery import lorenz

    return lorenz.run(end=4.0).report(folder / "lorenz.html")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_system_without_bodies_moves_in_a_plane(browser, lorenz, width):
    """The dot goes along the whole way, the past behind it; menus choose the plane; phones see all of it."""
    with opened(browser, lorenz, viewport={"width": width, "height": 800}) as page:
        whole, past = page.locator(".phase .whole"), page.locator(".phase .past")
        assert len(whole.get_attribute("d")) > 3000
        assert len(past.get_attribute("d")) < 40
        scrub(page, 4.0)
        assert past.get_attribute("d").startswith(whole.get_attribute("d"))
        place = [page.locator(".phase .dot").get_attribute(c) for c in ("cx", "cy")]
        page.get_by_label("upwards").select_option('["states/w",0]')
        assert page.locator(".phase .dot").get_attribute("cx") == place[0]
        assert page.locator(".phase .dot").get_attribute("cy") != place[1]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.text_content("#time") == "4.0000"  # without a unit that nobody knows
        page.screenshot(path=SCREENSHOTS / f"lorenz_{width}.png")


def test_mechanisms_of_connected_systems_move(browser, folder):
    from gallery import robot_arm

    with opened(
        browser, robot_arm.run().report(folder / "robot_arm.html"), viewport={"width": 390, "height": 844}
    ) as page:
        start = look(page)
        scrub(page, 0.5)
        assert look(page)[1] != start[1]
        assert start[0] > 0.03
        page.locator(".panel select").first.select_option("connections/elbow.elbow.power")
        assert page.locator(".panel .curve").first.get_attribute("d")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.screenshot(path=SCREENSHOTS / "robot_arm_390.png", full_page=True)


def test_a_click_on_a_body_draws_the_path_of_that_point(browser, folder):
    """The point is where the click was: a bar in the plane of the picture, seen along y, tells where that is."""
    model = ph.Model("bar", gravity=(0, 0, -9.81))
    bar = model.body("bar", ph.Box(1, (1.0, 0.02, 0.3)), position=(0.5, 0, 0))
    model.revolute("hinge", model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0))
    path = ph.simulate(model, ph.MidpointGGL(), step=0.01, end=0.5).report(folder / "clicked.html")
    with opened(browser, path) as page:
        page.get_by_role("button", name="y", exact=True).click()
        before = look(page)
        box = page.locator("#picture canvas").bounding_box()
        x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
        found = None
        for down in range(-20, 21):  # the bar is somewhere above the middle: go up until it is met
            page.mouse.click(x, y + down * box["height"] / 42)
            if page.locator("#paths .point").count():
                found = page.locator("#paths .point label").first.text_content()
                break
        assert found is not None
        assert found.startswith("bar (")
        at = [float(c) for c in found.removeprefix("bar (").rstrip(")").replace("\N{MINUS SIGN}", "-").split(",")]
        assert abs(at[0]) <= 0.5
        assert at[1] == pytest.approx(-0.01, abs=1e-3)  # on the face that is seen
        assert abs(at[2]) <= 0.15
        scrub(page, 0.5)
        with_path = look(page)
        page.screenshot(path=SCREENSHOTS / "clicked.png")
        page.locator("#paths .point input").click()
        hidden = look(page)
        assert hidden[1] != with_path[1]
        page.locator("#paths .point input").click()
        assert look(page)[1] == with_path[1]
        page.get_by_label("remove this point").click()
        assert page.locator("#paths .point").count() == 0
        assert look(page)[1] == hidden[1]
        scrub(page, 0.0)
        assert look(page)[1] == before[1]
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 60, y + 10)
        page.mouse.up()
        assert page.locator("#paths .point").count() == 0  # a drag turns the camera
