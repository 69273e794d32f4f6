from ccperf.include import get_include

print(get_include())
