// A library that a part needs and a Python package brings.
extern "C" int roof_made_library()
{
    return 1;
}
