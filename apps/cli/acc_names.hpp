// The names that options and reports use for the choices of Active-Compute-Combine.
#pragma once

#include "apps/cli/names.hpp"
#include "engine/acc/options.hpp"

namespace sluice::apps {

inline constexpr std::array kAccDirections{
    Name<AccDirection>{"auto", AccDirection::automatic},
    Name<AccDirection>{"push", AccDirection::push},
    Name<AccDirection>{"pull", AccDirection::pull},
};

inline constexpr std::array kAccFilters{
    Name<AccFilter>{"jit", AccFilter::jit},
    Name<AccFilter>{"ballot", AccFilter::ballot},
    Name<AccFilter>{"online", AccFilter::online},
    Name<AccFilter>{"batch", AccFilter::batch},
};

inline constexpr std::array kAccFusions{
    Name<AccFusion>{"none", AccFusion::none},
    Name<AccFusion>{"push-pull", AccFusion::push_pull},
    Name<AccFusion>{"all", AccFusion::all},
};

}  // namespace sluice::apps
