call("get-weather", q=1, "Api-Version"="2")
$r = call("Search (Tips)", $x)[0]
plugin.class(from="a", if=true)
help("get_weather")
